# Sourced by the scripts beside it: the repository's root as working directory, Cargo on the path.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command -v cargo >/dev/null || export PATH="$HOME/.cargo/bin:$PATH"
