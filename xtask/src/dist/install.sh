#!/bin/sh
# Installs vkabort: ./install.sh [PREFIX], by default /usr/local for root, else ~/.local.
# The layer stays off until VKABORT_ENABLE=1 is in a program's environment. PREFIX/lib/vkabort/uninstall.sh removes all of it.
set -eu
umask 022
if [ $# -gt 1 ] || [ "${1-}" = --help ]; then
    sed -n '2,3s/^# //p' "$0" >&2
    exit 2
fi
if [ "$(id -u)" = 0 ]; then
    default=/usr/local
else
    default=${HOME:?HOME is not set: name the folder to install into}/.local
fi
prefix=${1:-$default}
# An older version may have other files.
if [ -e "$prefix/lib/vkabort/uninstall.sh" ]; then
    sh "$prefix/lib/vkabort/uninstall.sh"
fi
remove_prefix=:
if [ ! -d "$prefix" ]; then
    mkdir -p "$prefix"
    remove_prefix='rmdir "$PWD"'
fi
prefix=$(cd "$prefix" && pwd)
cd "$(dirname "$0")"

folders=
for folder in $(find bin include lib share -type d | sort); do
    if [ ! -d "$prefix/$folder" ]; then
        mkdir "$prefix/$folder"
        folders="$folder $folders"
    fi
done
# Renamed into place: programs keep the old library mapped.
for file in $(find bin include lib share ! -type d | sort); do
    cp -P "$file" "$prefix/$file.new"
    mv "$prefix/$file.new" "$prefix/$file"
done

# The linker's cache has the libraries of these prefixes.
case $prefix in
/usr | /usr/local) cache=ldconfig ;;
*) cache=: ;;
esac
"$cache" || true

cat > "$prefix/lib/vkabort/uninstall.sh" <<END
#!/bin/sh
# Removes the files of vkabort, and the folders that its installation created.
set -eu
cd "\$(dirname "\$0")/../.."
rm -f $(find bin include lib share ! -type d | sort | tr '\n' ' ')lib/vkabort/uninstall.sh
for folder in $folders; do
    rmdir "\$folder" 2>/dev/null || true
done
$cache || true
$remove_prefix 2>/dev/null || true
END
chmod +x "$prefix/lib/vkabort/uninstall.sh"
echo "installed into $prefix; switched on by VKABORT_ENABLE=1; removed by $prefix/lib/vkabort/uninstall.sh"
case ":$PATH:" in
*":$prefix/bin:"*) ;;
*) echo "add $prefix/bin to PATH" ;;
esac
