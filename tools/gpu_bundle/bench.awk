# Prints rows of `frazil bench` (JSON, a row a line) as a table in Markdown: awk -f bench.awk bench.jsonl
function value(key) {
    if (!match($0, "\"" key "\":(\"[^\"]*\"|[^,}]*)")) return ""
    found = substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3)
    gsub(/"/, "", found)
    return found == "null" ? "" : found
}
NR == 1 {
    print "| bench | point | elements | median µs | ns/element | GB/s | of copy |"
    print "|---|---|---:|---:|---:|---:|---:|"
}
{
    point = ""
    if (match($0, /"point":\{[^}]*\}/)) {
        point = substr($0, RSTART + 9, RLENGTH - 10)
        gsub(/"/, "", point)
        gsub(/:/, " ", point)
        gsub(/,/, ", ", point)
    }
    n = value("elements")
    gb_per_s = value("gb_per_s")
    of_copy = value("share_of_copy")
    printf "| %s | %s | %s | %.1f | %.3g | %s | %s |\n", value("bench"), point, n, value("median_ns") / 1000,
        value("median_ns") / (n > 0 ? n : 1), gb_per_s == "" ? "–" : sprintf("%.1f", gb_per_s),
        of_copy == "" ? "–" : sprintf("%.1f %%", 100 * of_copy)
    copy = value("copy_gb_per_s")
}
END { if (copy != "") printf "\nCopy: %.1f GB/s, read and written.\n", copy }
