#!/bin/sh
# Validates, measures and profiles frazil on this machine's GPU. Needs a Vulkan driver, a POSIX shell with awk
# and sed, and `timeout`; everything else is in this folder, which `tools/gpu --bundle` has packed.
#
#   ./run                      all parts, in order of worth
#   ./run hashes bench.mpm     the parts whose names begin so
#   ./run --list               names of the parts
#   --quick                    small sizes: to see that every part runs
#   --software                 take a software device where there is no GPU
#   --device NAME|INDEX        part of the GPU's name, or its index in `frazil devices` (the best one)
#   --budget SECONDS           time of all parts together (600); those that no longer fit are not run
#   --limit SECONDS            time of a part, in place of its own
#   --out DIR                  folder of the results (out/gpu-DATE-DEVICE in this folder)
#
# Writes after each part: summary.md, parts.jsonl (a row a part), bench.jsonl and peers.jsonl; logs, profiles
# and validations are in details/. A part that fails or hangs does not end the others.
# `tools/gpu --summarize DIR` of a checkout makes kernels.jsonl and the full summary of such a folder.
#
# Exit status: 0 no part failed, 1 some failed or none passed, 2 bad input, 3 there is no GPU, or frazil cannot
# run here.
set -u

here=$(cd "$(dirname "$0")" && pwd -P) || exit 2
command_line="run $*"
# shellcheck source=/dev/null
. "$here/about.sh"
frazil=$here/frazil
# shellcheck disable=SC2034 # a variable of the table's commands
peers=$here/peer_benches
tab=$(printf '\t')

say() { printf 'gpu: %s\n' "$*"; }
refuse() { printf 'gpu: %s\n' "$*" >&2; exit 2; }
unable() { printf 'gpu: %s\n' "$*" >&2; exit 3; }

# Options.

table=$here/parts.tsv
quick=false
software=0
wanted=${FRAZIL_DEVICE:-}
budget=600
limit_of_all=
out=
list=0
chosen=
while [ $# -gt 0 ]; do
    option=$1
    case $option in
        --*=*) value=${option#*=}; option=${option%%=*}; shift; set -- "$option" "$value" "$@" ;;
    esac
    case $option in
        --quick) quick=true; table=$here/parts-quick.tsv ;;
        --software) software=1 ;;
        --list) list=1 ;;
        --device | --budget | --limit | --out)
            [ $# -ge 2 ] || refuse "found $option without a value, expected one"
            case $option in
                --device) wanted=$2 ;;
                --out) out=$2 ;;
                *)
                    case $2 in
                        '' | *[!0-9]* | 0*) refuse "found $option $2, expected whole seconds, more than 0" ;;
                    esac
                    if [ "$option" = --budget ]; then budget=$2; else limit_of_all=$2; fi
                    ;;
            esac
            shift
            ;;
        -h | --help) sed -n '2,/^set -u/s/^# \{0,1\}//p' "$0"; exit 0 ;;
        -*) refuse "found $option, expected an option of $0 --help" ;;
        '' | *[!A-Za-z0-9._]*) refuse "no part begins with '$1'; --list names them" ;;
        *) chosen="$chosen $1" ;;
    esac
    shift
done
for begin in $chosen; do
    cut -f1 "$table" | awk -v begin="$begin" 'index($0, begin) == 1 { n++ } END { exit !n }' ||
        refuse "no part begins with '$begin'; --list names them"
done

is_chosen() {
    [ -n "$chosen" ] || return 0
    for begin in $chosen; do
        case $1 in "$begin"*) return 0 ;; esac
    done
    return 1
}

if [ $list = 1 ]; then
    cut -f1 "$table" | while read -r name; do if is_chosen "$name"; then echo "$name"; fi; done
    exit 0
fi

# What this machine must have.

for program in timeout awk sed grep cut date mktemp; do
    command -v "$program" >/dev/null || unable "found no program $program, expected it (GNU coreutils)"
done
machine=$(uname -m)
# shellcheck disable=SC2154 # variables of about.sh
[ "$machine" = "$architecture" ] || unable "found a machine of $machine, expected $architecture"
glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null || ldd --version 2>&1 | head -n 1)
glibc=$(printf '%s\n' "$glibc" | sed -n 's/.*[^0-9.]\([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p')
# shellcheck disable=SC2154
if [ -n "$glibc" ] && { [ "${glibc%.*}" -lt "$glibc_major" ] ||
    { [ "${glibc%.*}" -eq "$glibc_major" ] && [ "${glibc#*.}" -lt "$glibc_minor" ]; }; }; then
    unable "found glibc $glibc, expected $glibc_major.$glibc_minor or later: the system is too old"
fi

work=$(mktemp -d) || unable "cannot make a folder for temporary files"
running=
clean_up() {
    [ -z "$running" ] || kill "$running" 2>/dev/null
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM

now_ms() {
    ms=$(date +%s%3N)
    # Other date programs than GNU's print no fractions.
    case $ms in *[!0-9]* | ??????????) ms=$(date +%s)000 ;; esac
    echo "$ms"
}
began_ms=$(now_ms)

# Libraries.

# Appends a folder to those in which libraries are searched before the system's.
add_libraries() { export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$1"; }

# Asks the dynamic linker, which lists a library that it could load beside the program's.
has_library() {
    LD_TRACE_LOADED_OBJECTS=1 LD_PRELOAD=$1 "$frazil" 2>/dev/null | grep -q "^[[:space:]]*$1 => /"
}

for folder in /usr/local/nvidia/lib64 /usr/local/nvidia/lib /usr/lib/wsl/lib /run/opengl-driver/lib \
    /usr/lib64/nvidia /usr/lib/nvidia /usr/lib/nvidia/current /opt/amdgpu/lib/x86_64-linux-gnu; do
    if [ -e "$folder/libGLX_nvidia.so.0" ] && ! has_library libGLX_nvidia.so.0 ||
        [ -e "$folder/libEGL_nvidia.so.0" ] && ! has_library libEGL_nvidia.so.0; then
        add_libraries "$folder"
    fi
done

# Libraries of the system are as its driver expects; of those packed only the missing ones are used.
mkdir "$work/lib"
add_libraries "$work/lib"
missing=
for library in "$here"/lib/*; do
    name=${library##*/}
    has_library "$name" && continue
    missing="$missing $name"
done
for name in $missing; do ln -s "$here/lib/$name" "$work/lib/$name"; done
if ! "$frazil" --version >"$work/version" 2>&1; then
    # The system's may be older than those of the compiler.
    for name in libstdc++.so.6 libgcc_s.so.1; do
        [ ! -e "$here/lib/$name" ] || ln -sf "$here/lib/$name" "$work/lib/$name"
    done
    "$frazil" --version >"$work/version" 2>&1 || unable "$frazil does not run: $(cat "$work/version")"
fi
[ -z "$missing" ] || say "libraries that this system lacks, from the archive:$missing"
[ ! -d "$here/layers" ] || export VK_LAYER_PATH="$here/layers"

# Driver and device.

# Folders of the manifests of drivers: those that the loader searches, and those of containers and vendors.
usual="${XDG_CONFIG_HOME:-${HOME:-/root}/.config}/vulkan/icd.d /etc/xdg/vulkan/icd.d /etc/vulkan/icd.d
    ${XDG_DATA_HOME:-${HOME:-/root}/.local/share}/vulkan/icd.d /usr/local/share/vulkan/icd.d
    /usr/share/vulkan/icd.d"
others="/usr/local/nvidia/share/vulkan/icd.d /usr/local/nvidia/vulkan/icd.d /usr/local/nvidia/icd.d
    /run/opengl-driver/share/vulkan/icd.d /opt/amdgpu/etc/vulkan/icd.d /opt/amdgpu/share/vulkan/icd.d
    /opt/amdgpu-pro/etc/vulkan/icd.d /usr/lib/wsl/share/vulkan/icd.d /usr/share/nvidia/vulkan/icd.d
    /usr/lib/$machine-linux-gnu/GL/vulkan/icd.d /usr/lib/$machine-linux-gnu/nvidia/vulkan/icd.d"
egl=/usr/local/nvidia/share/glvnd/egl_vendor.d/10_nvidia.json
if [ -e $egl ] && [ ! -e /usr/share/glvnd/egl_vendor.d/10_nvidia.json ]; then
    export __EGL_VENDOR_LIBRARY_FILENAMES="${__EGL_VENDOR_LIBRARY_FILENAMES:-$egl}"
fi

manifests=
for folder in $usual $others; do
    for manifest in "$folder"/*.json; do
        [ ! -e "$manifest" ] || manifests="$manifests $manifest"
    done
done
# A container may have NVIDIA's libraries without a manifest.
case $manifests in
    *nvidia*) ;;
    *)
        for library in libGLX_nvidia.so.0 libEGL_nvidia.so.0; do
            has_library $library || continue
            printf '{"file_format_version": "1.0.0", "ICD": {"api_version": "1.3.0", %s}}\n' \
                "\"library_path\": \"$library\"" >"$work/${library%%.*}.json"
            manifests="$manifests $work/${library%%.*}.json"
        done
        ;;
esac

# Sets `device` to the line of devices.awk for the drivers of the environment.
find_device() {
    timeout -k 5 60 "$frazil" devices >"$work/devices" 2>"$work/devices.err" </dev/null
    device=$(awk -v software=$software -v wanted="$wanted" -f "$here/devices.awk" "$work/devices")
    cat "$work/devices" >>"$work/found"
    cat "$work/devices.err" >>"$work/errors"
}

# The loader's own choice first, then each manifest alone: one driver that fails can hide the others.
export XDG_CACHE_HOME="$work/cache"
driver_from="the drivers that the loader finds"
software_from=
find_device
if [ -z "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ]; then
    case $device in
        *"${tab}software device${tab}"*) software_from=loader ;;
    esac
    if [ -z "$device" ] || [ -n "$software_from" ]; then
        for manifest in $manifests; do
            export VK_DRIVER_FILES="$manifest" VK_ICD_FILENAMES="$manifest"
            find_device
            case $device in
                *"${tab}software device${tab}"*) [ -n "$software_from" ] || software_from=$manifest ;;
                ?*) driver_from=$manifest; software_from=; break ;;
            esac
        done
        if [ -n "$software_from" ]; then
            unset VK_DRIVER_FILES VK_ICD_FILENAMES
            if [ "$software_from" != loader ]; then
                export VK_DRIVER_FILES="$software_from" VK_ICD_FILENAMES="$software_from"
                driver_from=$software_from
            fi
            find_device
        fi
    fi
else
    driver_from="VK_DRIVER_FILES=${VK_DRIVER_FILES:-$VK_ICD_FILENAMES}"
fi
if [ -z "$device" ]; then
    {
        echo "gpu: no GPU${wanted:+ \"$wanted\"} that can run frazil: Vulkan 1.3 and its driver are needed"
        echo "found devices:"
        sort -u "$work/found" | grep -E '^[0-9]+: ' || echo none
        # shellcheck disable=SC2086 # words
        {
            echo "manifests of drivers:"
            printf '  %s\n' ${manifests:-none}
            echo "looked for manifests in these folders, and for NVIDIA's libraries:"
            printf '  %s\n' $usual $others
        }
        sort -u "$work/errors" | head -n 5
        echo "VK_DRIVER_FILES=MANIFEST.json names a driver elsewhere; --software takes a software device"
    } >&2
    exit 3
fi
IFS=$tab read -r index name kind driver vulkan <<END
$device
END
export FRAZIL_DEVICE="$index"
say "$name ($kind, $driver), by $driver_from"

# Results.

date=$(date +%Y-%m-%d)
if [ -n "$out" ]; then
    [ ! -e "$out" ] || refuse "$out exists already"
else
    slug=$(printf '%s' "$name" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9][^a-z0-9]*/-/g; s/^-//; s/-$//')
    out=$here/out/gpu-$date-$slug
    number=2
    while [ -e "$out" ]; do
        out=$here/out/gpu-$date-$slug-$number
        number=$((number + 1))
    done
fi
mkdir -p "$out/details" || refuse "cannot write $out; --out DIR names another folder"
out=$(cd "$out" && pwd -P)
cp "$work/devices" "$out/details/devices.txt"
: >"$work/rows.md"
: >"$work/failed.md"
n_parts=0 n_passed=0 n_failed=0 n_left_out=0

quoted() { printf '%s' "$1" | tr -d '\000-\037' | sed 's/\\/\\\\/g; s/"/\\"/g'; }

count_rows() { if [ -e "$1" ]; then wc -l <"$1"; else echo 0; fi; }

# Prints the figures of a part in words: its name, and the number of rows in bench.jsonl before it.
figures_of() {
    log=$out/details/$1.log
    case $1 in
        validate.* | hashes | layers)
            csv=$out/details/$1/validation.csv
            [ -e "$csv" ] || return 0
            printf '%s PASS, %s FAIL' "$(grep -c ',"PASS",' "$csv")" "$(grep -c ',"FAIL[,:"]' "$csv")"
            states=$out/details/$1/hashes.csv
            [ -e "$states" ] || return 0
            printf '; %s' "$(awk -f "$here/hashes.awk" "$here/hashes.csv" "$states" | tail -n 1)"
            ;;
        bench.*)
            [ -e "$out/bench.jsonl" ] || return 0
            tail -n "+$(($2 + 1))" "$out/bench.jsonl" | awk '
                match($0, /"share_of_copy":[0-9.e+-]+/) {
                    share = substr($0, RSTART + 16, RLENGTH - 16) + 0
                    if (share > best) best = share
                }
                END {
                    printf "%d points verified", NR
                    if (best) printf ", at most %.1f %% of copy", 100 * best
                }'
            ;;
        step.*)
            run=$out/details/$1
            [ -e "$run/timing.csv" ] && [ -e "$run/run.json" ] || return 0
            sed -n 's/^  "n_particles": \([0-9]*\).*/\1 particles, /p' "$run/run.json" | tr -d '\n'
            # A row is of the steps since the row before; the first quarter warms up.
            last=$(tail -n 1 "$run/timing.csv" | cut -d, -f1)
            awk -F, -v last="$last" 'NR > 1 && $1 > last / 4 { print $2 }' "$run/timing.csv" | sort -n |
                awk '{ ms[NR] = $1 } END { if (NR) printf "%.3f ms a step", ms[int(NR / 2) + 1] }'
            ;;
        profile.*)
            awk '!text && / particles, / { match($0, /[0-9]+ particles/); text = substr($0, RSTART, RLENGTH) }
                /^step  / { sub(/^step +/, ""); text = text ", a step in " $0 }
                /^copy  .* GB\/s/ { text = text ", copy " $2 " GB/s" }
                END { printf "%s", text }' "$log"
            ;;
        predict.*)
            sed -n 's/^step on .*: \(.* ms\), predicted$/predicted \1/p; s/^measured: \(.*\)/measured \1/p' "$log" |
                tr '\n' ';' | sed 's/;$//; s/;/; /g'
            ;;
        peers.*)
            sed -n 's/^  \([A-Za-z].*\)/\1/p' "$log" | sed 's/   */ /g' | tr '\n' ';' | sed 's/;$//; s/;/; /g'
            ;;
    esac
}

# Adds a part to the results: name, status, tenths of a second, figures.
record() {
    seconds=$(($3 / 10)).$(($3 % 10))
    case $2 in
        'not run'*) say "$1: $2" ;;
        *) say "$1: $2, $seconds s${4:+: $4}" ;;
    esac
    printf '| %s | %s | %s | %s |\n' "$1" "$2" "$seconds" "$4" >>"$work/rows.md"
    # shellcheck disable=SC2154
    {
        printf '{"part": "%s", "status": "%s", "seconds": %s, ' "$1" "$2" "$seconds"
        printf '"device": "%s", "kind": "%s", ' "$(quoted "$name")" "$kind"
        printf '"driver": "%s", "vulkan": "%s", ' "$(quoted "$driver")" "$vulkan"
        printf '"commit": "%s", "quick": %s, "command": "%s", ' "$commit" "$quick" "$(quoted "$command_line")"
        printf '"figures": {}, "words": "%s"}\n' "$(quoted "$4")"
    } >>"$out/parts.jsonl"
    n_parts=$((n_parts + 1))
    case $2 in
        passed) n_passed=$((n_passed + 1)) ;;
        'not run'* | 'cut off'*) n_left_out=$((n_left_out + 1)) ;;
        *)
            n_failed=$((n_failed + 1))
            printf -- '- %s: %s\n\n' "$1" "$2" >>"$work/failed.md"
            grep -v '^[[:space:]]*$' "$out/details/$1.log" | tail -n 3 | cut -c1-200 | sed 's/^/      /' \
                >>"$work/failed.md"
            echo >>"$work/failed.md"
            ;;
    esac
    write_summary
}

write_summary() {
    {
        printf '# frazil on %s, %s\n\n' "$name" "$date"
        [ "$kind" != "software device" ] ||
            printf '**A software device: it shows that the parts run, and says nothing about a GPU.**\n\n'
        printf '| device | kind | driver | Vulkan | commit | command |\n|---|---|---|---|---|---|\n'
        # shellcheck disable=SC2016 # quotation marks of Markdown
        printf '| %s | %s | %s | %s | %s | `%s` |\n\n' \
            "$name" "$kind" "$driver" "$vulkan" "${commit:-–}" "$command_line"
        printf '%d of %d parts passed, %d failed, %d were left out. Time: %d s.\n\n' \
            $n_passed $n_parts $n_failed $n_left_out $((($(now_ms) - began_ms) / 1000))
        printf '| part | result | s | figures |\n|---|---|---:|---|\n'
        cat "$work/rows.md"
        if [ -s "$work/failed.md" ]; then printf '\n## Failed\n\n'; cat "$work/failed.md"; fi
        if [ -e "$out/details/hashes/hashes.csv" ]; then
            printf '\n## Final states\n\n'
            awk -f "$here/hashes.awk" "$here/hashes.csv" "$out/details/hashes/hashes.csv"
        fi
        if [ -e "$out/bench.jsonl" ]; then
            printf '\n## Benches\n\n'
            awk -f "$here/bench.awk" "$out/bench.jsonl"
        fi
    } >"$work/summary.md"
    # A reader never sees half of a summary.
    cp "$work/summary.md" "$out/.summary.md" && mv "$out/.summary.md" "$out/summary.md"
}

# Parts.

# Prints the first Python with all of some modules.
python_with() {
    data=${XDG_DATA_HOME:-${HOME:-/root}/.local/share}
    for candidate in ${PYTHON:-} "$data/frazil/peers/bin/python" python3 python; do
        command -v "$candidate" >/dev/null || continue
        if timeout 20 "$candidate" -c "from importlib.util import find_spec
import sys
sys.exit(not all(map(find_spec, '$1'.split())))" 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
}

# Runs a part: name, limit, environment ("-" for none), command as a shell reads it. Sets `status`.
run_part() {
    log=$out/details/$1.log
    [ "$3" = - ] && set -- "$1" "$2" '' "$4"
    rm -f "$work/status" "$work/pid"
    printf '$ %s%s\n' "${3:+$3 }" "$4" >"$log"
    (
        trap - EXIT INT HUP TERM
        # The table's own words, quoted by tools/gpu.
        eval "set -- $2 $3 $4"
        limit=$1
        shift
        timeout -k 5 "$limit" env "$@" >>"$log" 2>&1 </dev/null &
        echo $! >"$work/pid"
        wait $!
        echo $? >"$work/status"
    ) 2>/dev/null & # The shell would report a process that was killed.
    # A process that waits in the driver cannot be killed: it is left behind.
    give_up_ms=$(($(now_ms) + 1000 * ($2 + 15)))
    while [ ! -s "$work/status" ] && [ "$(now_ms)" -lt $give_up_ms ]; do
        running=$(cat "$work/pid" 2>/dev/null)
        sleep 0.1 2>/dev/null || sleep 1
    done
    running=
    code=$(cat "$work/status" 2>/dev/null)
}

while IFS=$tab read -r part limit only requires environment command <&3; do
    is_chosen "$part" || continue
    now=$(now_ms)
    left=$((budget - (now - began_ms) / 1000))
    python=
    case $only/$kind in
        gpu/software* | software/*GPU) continue ;;
    esac
    if [ "$requires" != - ]; then
        python=$(python_with "$requires")
        if [ -z "$python" ]; then
            record "$part" "not run: no Python with $requires" 0 ''
            continue
        fi
    fi
    if [ $left -lt 5 ]; then
        record "$part" "not run: the time of all parts is over" 0 ''
        continue
    fi
    limit=${limit_of_all:-$limit}
    full=$limit
    [ "$limit" -le $left ] || limit=$left
    rows_before=$(count_rows "$out/bench.jsonl")
    run_part "$part" "$limit" "$environment" "$command"
    took=$(($(now_ms) - now))
    if [ "$code" = 0 ]; then
        status=passed
    elif [ -z "$code" ]; then
        status="did not end when it was killed after $limit s"
    elif [ $took -ge $((1000 * limit)) ] && { [ "$code" = 124 ] || [ "$code" = 137 ]; }; then
        status="took more than $limit s"
        [ "$limit" = "$full" ] || status="cut off after $limit s: the time of all parts is over"
    elif [ "$code" -gt 128 ]; then
        status="ended by signal $((code - 128))"
    else
        status="failed, status $code"
    fi
    record "$part" "$status" $((took / 100)) "$(figures_of "$part" "$rows_before")"
done 3<"$table"

say "$n_passed of $n_parts parts passed, $n_failed failed, $n_left_out were left out; wrote $out/summary.md"
[ $n_failed = 0 ] && [ $n_passed != 0 ]
