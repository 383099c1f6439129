# Sourced by docker/run when something is missing: installs buildah, builds the image.
# shellcheck shell=bash disable=SC2154,SC2317,SC2034
build_container=$name-build
base=$name-base:$SUITE
scratch=$cache_root/build
certificates=/etc/ssl/certs/ca-certificates.crt

# One build at a time, in the storage of all of root's calls or in the daemon of the caller.
lock() {
    command -v flock >/dev/null || return 0
    local file=$cache_root/build.lock
    [ "$engine" != buildah ] || file=/run/$name.lock
    exec 9>"$file"
    flock -n 9 && return
    say "waiting for another docker/run that is $1"
    # In the background, because a trap waits for a command in the foreground.
    forward_signal() { kill "$child" 2>/dev/null || true; }
    flock 9 &
    child=$!
    wait_for_child || exit
    child=
}
unlock() { exec 9>&-; }

install_with_apt() {
    command -v "$1" >/dev/null && return
    command -v apt-get >/dev/null || fail "cannot install $1 without apt-get (no container engine is here)"
    say "installing $1"
    # One foreign source that does not answer must not stop the rest.
    { apt-get update || true; DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$1"; } \
        </dev/null >"$cache_root/install.log" 2>&1 ||
        fail "cannot install $1 with apt (no network?), see $cache_root/install.log"
}

install_buildah() {
    lock "installing buildah"
    install_with_apt buildah
    unlock
}

require_space() {
    local folder need=6 free
    case $engine in
        docker) folder=$(docker info --format '{{.DockerRootDir}}') ;;
        podman) folder=$(podman info --format '{{.Store.GraphRoot}}') ;;
        buildah) folder=$(buildah info --format '{{.store.GraphRoot}}') ;;
    esac
    if [ "$engine-${STORAGE_DRIVER:-}" = buildah-vfs ]; then
        need=14
        say "overlay is not supported here: using the vfs driver (slower; every container is a copy of 4 GB)"
    fi
    [ -d "$folder" ] || return 0
    free=$(df -Pk "$folder" | awk 'NR == 2 {print int($4 / 1048576)}')
    [ "$free" -ge "$need" ] || fail "not enough space: $free GB free in $folder, building the image needs $need GB"
}

# The machine's own apt sources name the mirror.
find_mirror() {
    local address
    # shellcheck disable=SC2016
    while read -r address; do
        if /usr/lib/apt/apt-helper -o Acquire::http::Timeout=20 download-file \
            "${address%/}/dists/$SUITE/InRelease" "$scratch/InRelease" >/dev/null 2>&1; then
            echo "${address%/}"
            return
        fi
    done < <(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | awk '!seen[$0]++')
    fail "cannot build the image: no network, or no mirror with Debian $SUITE in this machine's apt sources"
}

seed_base_image() {
    if image_exists "localhost/$base"; then return; fi
    if image_exists "debian:$SUITE-slim"; then buildah tag "debian:$SUITE-slim" "localhost/$base"; return; fi
    install_with_apt mmdebstrap
    local mirror
    mirror=$(find_mirror)
    say "making a base image of Debian $SUITE from this machine's apt mirror"
    mmdebstrap --mode=root --variant=minbase --include=ca-certificates --aptopt='Acquire::Check-Valid-Until "false"' \
        "$SUITE" "$scratch/base.tar" "deb $mirror $SUITE main"
    buildah from --name "$build_container" scratch
    buildah add "$build_container" "$scratch/base.tar" /
    buildah commit --rm "$build_container" "localhost/$base"
    rm "$scratch/base.tar"
}

build_with_engine() {
    local arguments=(--target env --build-arg "SUITE=$SUITE" -t "$image" -f "$here/Dockerfile")
    if [ "$engine" = buildah ]; then
        export TMPDIR=$scratch
        seed_base_image
        # Inside the build pip does not know the certificates that only this machine trusts.
        [ ! -f "$certificates" ] || arguments+=(-v "$certificates:/etc/ssl/machine.crt:ro")
        buildah bud --pull-never --from "localhost/$base" "${arguments[@]}" "$checkout"
    else
        "$engine" build "${arguments[@]}" "$checkout"
    fi
}

# Line by line as they come: some awks read a pipe in blocks.
show_progress() {
    local line packages=0 own='^(#[0-9]+ [0-9.]+ )?(docker/run: .*)'
    local step='^(STEP|Step|#[0-9]+ \[)' last='^(COMMIT |#[0-9]+ exporting to image)'
    while IFS= read -r line; do
        if [[ $line =~ $own ]]; then
            echo "${BASH_REMATCH[2]}"
        elif [[ $line =~ $step ]]; then
            echo "  ${line:0:90}"
        elif [[ $line =~ $last ]]; then
            echo "  storing the image (a minute or two, without further lines)"
        elif [[ $line =~ (Get:|Unpacking |Setting up ) ]]; then
            packages=$((packages + 1))
            if [ $((packages % 100)) = 0 ]; then echo "  ${line:0:70}"; fi
        fi
    done >&2
}

remove_traces_of_builds() {
    rm -rf --one-file-system "$scratch"
    [ "$engine" = buildah ] || return 0
    local container
    for container in $(buildah containers --format '{{.ContainerName}}' |
        grep -E "^($build_container|$name-base-working-container.*)$" || true); do
        buildah rm "$container" >/dev/null 2>&1 || true
    done
}

end_build() {
    local tries
    for tries in {1..100}; do
        kill -0 -- "-$child" 2>/dev/null || break
        if [ "$tries" = 100 ]; then kill -KILL -- "-$child" 2>/dev/null || true; else sleep 0.1; fi
    done
    remove_traces_of_builds
}

# From the lines of apt: "Fetched 726 MB in 1min 9s (12.7 MB/s)".
seconds_of_downloads() {
    awk '/Fetched .* in .* \(/ {
        sub(/.* in /, ""); sub(/ \(.*/, "")
        n = split($0, parts, " ")
        for (i = 1; i <= n; i++) seconds += parts[i] * (parts[i] ~ /h$/ ? 3600 : parts[i] ~ /min$/ ? 60 : 1)
    } END { print seconds + 0 }' "$1"
}

build_image() {
    local log=$cache_root/build-$SUITE.log status=0 begun=$SECONDS
    local no_network='Could not resolve|Temporary failure|nable to connect|Could not connect|unreachable|no such host|i/o timeout'
    lock "building the image"
    if image_exists "$image"; then unlock; return; fi
    remove_traces_of_builds
    require_space
    mkdir -p "$scratch"
    say "building $image with $engine, about 5 minutes (log: $log)"
    at_exit=end_build
    forward_signal() { kill -TERM -- "-$child" 2>/dev/null || true; }
    # Job control gives the build a process group of its own.
    set -m
    { build_with_engine 2>&1 | tee "$log" | show_progress; } </dev/null &
    child=$!
    set +m
    wait_for_child || status=$?
    [ -z "$interrupted" ] || exit
    if [ $status -ne 0 ]; then
        grep -q '^docker/run: cannot' "$log" && exit 125
        tail -n 40 "$log" | grep -qE "$no_network" && fail "cannot build the image: no network? (log: $log)"
        fail "cannot build the image: $(grep -v ^STEP "$log" | grep -m1 -E '^E: |rror|not OpenBLAS') (log: $log)"
    fi
    end_build
    say "the image was built in $((SECONDS - begun)) s, $(seconds_of_downloads "$log") s of them downloads with apt"
    at_exit=:
    child=
    unlock
}

