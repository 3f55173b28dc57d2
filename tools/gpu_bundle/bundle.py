"""Packs the program and what it needs beside a driver into an archive: `tools/gpu --bundle FILE`."""

import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile

from parts import benches_of, shared_parts

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FOLDER = "frazil-gpu"
MAX_BYTES = 60_000_000
SUFFIXES = (".tar.gz", ".tgz", ".tar.zst")
LOADER = "libvulkan.so.1"
LAYER = "libVkLayer_khronos_validation.so"
LAYER_MANIFEST = pathlib.Path("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json")
# NVIDIA's driver loads these, and a container that has nothing but the driver lacks them.
FOR_DRIVERS = [
    *["libX11.so.6", "libX11-xcb.so.1", "libXext.so.6", "libxcb.so.1", "libdrm.so.2"],
    *["libGLdispatch.so.0", "libEGL.so.1", "libGLX.so.0", "libGL.so.1", "libOpenGL.so.0", "libGLESv2.so.2"],
]
# Parts of glibc come from the target: they cannot be exchanged without its dynamic linker.
GLIBC = re.compile(r"^(linux-vdso|ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|anl|mvec|nsl))\.so")


class Refused(Exception):
    """Bad input: what was found and what is expected."""


def say(text):
    print(f"gpu: {text}", flush=True)


def check_file(file, overwrite):
    """Refuses a name that cannot become an archive, before anything is built."""
    if not file.name.endswith(SUFFIXES):
        raise Refused(f"found --bundle {file}, expected a name that ends in {' or '.join(SUFFIXES)}")
    if file.is_dir() or file.exists() and not overwrite:
        raise Refused(f"{file} exists already; --overwrite replaces a file")
    try:
        tempfile.TemporaryFile(dir=file.parent).close()
    except OSError as error:
        raise Refused(f"cannot write {file}: {error.strerror} ({file.parent})") from None
    if file.name.endswith(".zst") and not shutil.which("zstd"):
        raise Refused(f"cannot write {file}: found no program zstd; a name in .tar.gz needs none")


def check_program(program):
    """Refuses what is no program of Linux."""
    if not program.is_file():
        raise Refused(f"found no file {program}, expected the program frazil")
    with open(program, "rb") as file:
        begin = file.read(4)
    if begin != b"\x7fELF":
        raise Refused(f"found {program} that begins with {begin!r}, expected an ELF program")


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def needed(path):
    """Returns the shared libraries beyond glibc that a program or library loads, and what those load."""
    found = {}
    for line in output_of("ldd", path).splitlines():
        name, _, rest = line.strip().partition(" => ")
        if rest.startswith("not found"):
            raise Refused(f"{path} needs {name}, which this system lacks")
        if rest and not GLIBC.match(name):
            found[name] = pathlib.Path(rest.split(" (")[0])
    return found


def installed(name):
    """Returns the path of a library of this system and architecture, or None."""
    listed = output_of(shutil.which("ldconfig") or "/sbin/ldconfig", "-p")
    found = re.findall(rf"^\s*{re.escape(name)} \(([^)]*)\) => (\S+)$", listed, re.M)
    kind = {"x86_64": "x86-64", "aarch64": "AArch64"}.get(platform.machine(), "libc6")
    return next((pathlib.Path(path) for about, path in found if kind in about), None)


def glibc_of(path):
    """Returns the version of glibc from which on a program or library runs."""
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", output_of("objdump", "-T", path))
    return max(((int(major), int(minor)) for major, minor in versions), default=(2, 0))


def libraries_of(program):
    """Returns the paths of the libraries to pack by name: of the program, the loader, and for drivers."""
    loader = installed(LOADER)
    if not loader:
        raise Refused(f"found no {LOADER} here, expected the Vulkan loader (tools/setup; Debian: libvulkan1)")
    found = {**needed(program), LOADER: loader, **needed(loader)}
    missing = [name for name in FOR_DRIVERS if not installed(name)]
    for name in set(FOR_DRIVERS) - set(missing):
        path = installed(name)
        found.update({name: path, **needed(path)})
    if missing:
        say(
            f"packing no {', '.join(missing)}, which this system lacks: NVIDIA's driver may need them in a "
            "bare container (Debian: libegl1 libgl1 libopengl0 libgles2 libxext6)"
        )
    return found


def copy_licences(libraries, folder):
    """Copies the licences of the Debian packages from which libraries are."""
    folder.mkdir()
    for licence in ("LICENSE-APACHE", "LICENSE-MIT"):
        shutil.copy(ROOT / licence, folder)
    for path in libraries:
        # Debian lists a file of /usr/lib under /lib if the package was made before both were one.
        for name in {path, path.resolve(), pathlib.Path("/usr" + str(path)), pathlib.Path(str(path)[4:])}:
            owner = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
            package = owner.stdout.split(":")[0]
            text = pathlib.Path("/usr/share/doc") / package / "copyright"
            if owner.returncode == 0 and text.exists():
                shutil.copy(text, folder / package)
                break


def shell_word(word):
    """Returns a word of a command for a shell, with the script's variables for the places in braces."""
    pieces = re.split(r"(\{\w+\})", word)
    place = lambda piece: f'"${piece[1:-1]}"' if piece.startswith("{") else shlex.quote(piece)
    return "".join(place(piece) for piece in pieces if piece)


def table_of(parts):
    """Returns the table of parts that the script reads: fields between tabs, "-" for an empty one."""
    lines = []
    for part in parts:
        environment = " ".join(f"{key}={value}" for key, value in part.environment.items())
        command = " ".join(map(shell_word, part.command))
        fields = [part.name, str(part.limit_s), part.only, " ".join(part.requires), environment, command]
        lines.append("\t".join(field or "-" for field in fields) + "\n")
    return "".join(lines)


def strip(program, to):
    subprocess.run(["strip", "-o", to, program], check=True)


def fill(folder, program, libraries, commit, with_layer):
    """Writes the folder that the archive has."""
    (folder / "lib").mkdir(parents=True)
    frazil = folder / "frazil"
    strip(program, frazil)
    frazil.chmod(0o755)
    for name, path in libraries.items():
        shutil.copy(path, folder / "lib" / name)
    if with_layer:
        (folder / "layers").mkdir()
        shutil.copy(installed_layer(), folder / "layers" / LAYER)
        # Debian's manifest names the library without its folder, which finds a system's only.
        manifest = LAYER_MANIFEST.read_text().replace(f'"{LAYER}"', f'"./{LAYER}"')
        (folder / "layers" / LAYER_MANIFEST.name).write_text(manifest)
    benches = benches_of(program)
    for name, quick in {"parts.tsv": False, "parts-quick.tsv": True}.items():
        parts = [part for part in shared_parts(benches, quick) if with_layer or part.name != "layers"]
        (folder / name).write_text(table_of(parts))
    shutil.copy(ROOT / "docs/hashes.csv", folder)
    (folder / "peer_benches").mkdir()
    for source in ("compare.py", "mpm.toml", "mpm_block.py", "mpm_taichi.py", "mpm_warp.py"):
        shutil.copy(ROOT / "tools/peer_benches" / source, folder / "peer_benches")
    for source in ("hashes.awk", "bench.awk", "devices.awk"):
        shutil.copy(HERE / source, folder)
    major, minor = glibc_of(program)
    about = {"commit": commit, "architecture": platform.machine(), "glibc_major": major, "glibc_minor": minor}
    (folder / "about.sh").write_text("".join(f"{key}={value}\n" for key, value in about.items()))
    shutil.copy(HERE / "run.sh", folder / "run")
    (folder / "run").chmod(0o755)
    copy_licences([*libraries.values(), *([installed_layer()] if with_layer else [])], folder / "licences")


def installed_layer():
    """Returns the path of the validation layer, or None."""
    folders = [pathlib.Path("/usr/lib") / f"{platform.machine()}-linux-gnu", pathlib.Path("/usr/lib64")]
    found = [folder / LAYER for folder in folders if (folder / LAYER).exists()]
    return found[0] if found and LAYER_MANIFEST.exists() else None


def archive(folder, file):
    """Writes the archive beside its place and moves it there, so that no half of one is left."""
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=f".{file.name}.") as work:
        part = pathlib.Path(work) / file.name
        is_zstd = file.name.endswith(".zst")
        tar = part.with_suffix("") if is_zstd else part

        def owned_by_root(info):
            info.uid = info.gid = 0
            info.uname = info.gname = "root"
            return info

        with tarfile.open(tar, "w" if is_zstd else "w:gz", format=tarfile.GNU_FORMAT) as out:
            out.add(folder, FOLDER, filter=owned_by_root)
        if is_zstd:
            subprocess.run(["zstd", "-q", "-19", "-T0", tar, "-o", part], check=True)
        size = part.stat().st_size
        if size <= MAX_BYTES:
            part.chmod(0o644)
            os.replace(part, file)
    return size


def pack(program, file, commit):
    """Packs the archive, with the validation layer if it is installed and fits."""
    libraries = libraries_of(program)
    with_layer = installed_layer() is not None
    if not with_layer:
        say(f"packing no validation layer: found no {LAYER_MANIFEST} with its library")
    for has_layer in [True, False] if with_layer else [False]:
        with tempfile.TemporaryDirectory() as work:
            fill(pathlib.Path(work) / FOLDER, program, libraries, commit, has_layer)
            size = archive(pathlib.Path(work) / FOLDER, file)
        if size <= MAX_BYTES:
            break
        say(f"{1e-6 * size:.1f} MB {'with' if has_layer else 'without'} the validation layer exceed 60 MB")
    else:
        sys.exit(f"gpu: {file} was not written")
    unpack = "tar xf" if file.name.endswith(".zst") else "tar xzf"
    glibc = ".".join(map(str, glibc_of(program)))
    say(f"wrote {file}, {1e-6 * size:.1f} MB, for glibc {glibc} or later; on the machine with a GPU:")
    print(f"{unpack} {file.name} && {FOLDER}/run")
