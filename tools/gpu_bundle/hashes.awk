# Prints final states beside those listed for Mesa's software device, as a table in Markdown, and then a line
# with the numbers: awk -f hashes.awk docs/hashes.csv FOUND.csv, both as `frazil validate` writes them. In a
# row only device and driver, in quotation marks, may have commas.
{
    n = split($0, field, ",")
    state = field[n]
    run = field[n - 3] " | " field[n - 2] " | " field[n - 1]
    device = substr($0, 2, index($0, "\",\"") - 2)
}
FNR == 1 { file++; next }
file == 1 && device ~ /^llvmpipe/ {
    listed[run] = state
    same[run, state] = 1
}
file == 1 && device !~ /^llvmpipe/ {
    others[run, state] = others[run, state] (others[run, state] ? ", " : "") device
}
file == 2 {
    if (!n_runs++) {
        print "| scene | change | steps | final state | llvmpipe's | equal | other devices with this state |"
        print "|---|---|---:|---|---|---|---|"
    }
    equal = !(run in listed) ? "–" : (run, state) in same ? "yes" : "no"
    n_equal += equal == "yes"
    n_listed += equal != "–"
    if (equal == "yes") listed[run] = state
    llvmpipe = run in listed ? listed[run] : "–"
    print "| " run " | " state " | " llvmpipe " | " equal " | " others[run, state] " |"
}
END {
    if (n_runs) print ""
    print n_equal + 0 " of " n_listed + 0 " final states are those of llvmpipe"
}
