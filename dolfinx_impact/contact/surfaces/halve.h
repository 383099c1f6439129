/* Division of what stands in an array of boxes: quickselect by KEY_ALONG(one, axis), a macro of who includes this. */

/* Exchange entries until none before the middle lies above one behind it. */
#define DEFINE_HALVE(TYPE)                                                          \
    static void halve(TYPE *at, int64_t count, int64_t middle, int axis)            \
    {                                                                               \
        int64_t low = 0, high = count - 1;                                          \
        while (low < high) {                                                        \
            const double pivot = KEY_ALONG(at[(low + high) / 2], axis);             \
            int64_t i = low, j = high;                                              \
            while (i <= j) {                                                        \
                while (KEY_ALONG(at[i], axis) < pivot)                              \
                    i++;                                                            \
                while (KEY_ALONG(at[j], axis) > pivot)                              \
                    j--;                                                            \
                if (i <= j) {                                                       \
                    const TYPE one = at[i];                                         \
                    at[i++] = at[j];                                                \
                    at[j--] = one;                                                  \
                }                                                                   \
            }                                                                       \
            if (middle <= j)                                                        \
                high = j;                                                           \
            else if (middle >= i)                                                   \
                low = i;                                                            \
            else                                                                    \
                return;                                                             \
        }                                                                           \
    }
