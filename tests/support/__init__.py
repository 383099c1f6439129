"""Bodies, schemes, programs and checks that tests share."""
