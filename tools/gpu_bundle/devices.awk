# Picks the device to measure from the output of `frazil devices`, and prints its index, name, kind, driver
# and version of Vulkan between tabs, or nothing. Variables: software=1 permits a software device, wanted has
# an index or a part of a name.
BEGIN {
    allowed = "discrete GPU,integrated GPU,virtual GPU" (software ? ",software device" : "")
    n_kinds = split(allowed, kinds, ",")
    best = n_kinds + 1
}
function is_wanted() {
    if (wanted == "" || wanted == index_) return 1
    return wanted !~ /^[0-9]+$/ && index(tolower(name), tolower(wanted)) > 0
}
function take() {
    if (index_ != "" && rank < best && is_wanted()) {
        best = rank
        line = index_ "\t" name "\t" kind "\t" driver "\t" vulkan
    }
    index_ = ""
}
/^[0-9]+: / {
    take()
    if (!match($0, / \((discrete GPU|integrated GPU|virtual GPU|software device|other device), /)) next
    kind = substr($0, RSTART + 2, RLENGTH - 4)
    driver = substr($0, RSTART + RLENGTH)
    name = substr($0, 1, RSTART - 1)
    sub(/^[0-9]+: /, "", name)
    match(driver, /, Vulkan [0-9.]+\)$/)
    vulkan = substr(driver, RSTART + 9, RLENGTH - 10)
    driver = substr(driver, 1, RSTART - 1)
    rank = n_kinds + 1
    for (i = 1; i <= n_kinds; i++) if (kinds[i] == kind) rank = i
    index_ = $0
    sub(/:.*/, "", index_)
}
/^ .*cannot run frazil/ { index_ = "" }
END { take(); if (line != "") print line }
