# Sourced by docker/run: what is mounted, and where the current folder is inside.
# shellcheck shell=bash disable=SC2154,SC2034

# What a mount would hide: CMD needs these folders of the image.
of_the_image='^/((bin|boot|cache|checkout|dev|etc|host|lib[0-9x]*|proc|sbin|sys|usr)/.*|tmp/|(run|var)/([^/]*/)?)?$'

# Sets `folder`, the current one inside, and `outside`, what is mounted there: nothing in the checkout.
find_current_folder() {
    local real
    real=$(pwd -P 2>/dev/null) && [ -d "$real" ] || fail "the current folder does not exist any more"
    outside=
    case $real/ in "$checkout"/*) folder=/checkout${real#"$checkout"}; return ;; esac
    outside=$real
    # As the caller sees it, maybe through links, so that messages have the caller's paths.
    folder=$(pwd)
    while [[ $folder == */ ]]; do folder=${folder%/}; done
    if [[ $folder/ =~ $of_the_image ]]; then folder=/host$folder; fi
    # No option of buildah takes both.
    if [[ $engine == buildah && $folder == *:* && $folder == *,* ]]; then folder=${folder//:/_}; fi
}

# Adds SOURCE at TARGET to the arguments: -v splits at colons, --mount at commas, for buildah within quotes too.
mount_at() {
    local source=$1 target=$2
    if [[ $engine == buildah && $source == *:* && $source == *,* ]]; then
        ln -sfn "$source" "$run_dir/${target//\//_}"
        source=$run_dir/${target//\//_}
    fi
    if [[ $source$target != *:* ]]; then
        arguments+=(-v "$source:$target")
    elif [ "$engine" = buildah ]; then
        arguments+=(--mount "type=bind,source=$source,target=$target,rw=true")
    else
        arguments+=(--mount "type=bind,$(quoted "source=$source"),$(quoted "target=$target")")
    fi
}

quoted() {
    if [[ $1 == *[,\"]* ]]; then echo "\"${1//\"/\"\"}\""; else echo "$1"; fi
}

mount_all() {
    mount_at "$checkout" /checkout
    mount_at "$cache" /cache
    [ -z "$outside" ] || mount_at "$outside" "$folder"
}

# Of buildah, whose containers have root alone; a file with several names may be one that lies elsewhere.
give_new_files_to_the_owner() {
    local place owner
    [ -e "$run_dir/stamp" ] || return 0
    for place in "$checkout" ${outside:+"$outside"}; do
        owner=$(stat -c %u:%g "$place")
        [ "${owner%:*}" != 0 ] || continue
        find "$place" -xdev -uid 0 -cnewer "$run_dir/stamp" \( -type d -o -links 1 \) -exec chown -h "$owner" {} +
    done
}
