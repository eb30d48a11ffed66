# The figures of `measure` (what, bytes, who, value) as a Markdown table. The ratio is the median of the pairs' own ratios:
# what else the machine did then, it did to both of a pair.
BEGIN { FS = "," }
{ row = $1 "," $2 "," $3; if (!(row in count)) order[++rows] = row; values[row, ++count[row]] = $4 }
function sort(row,    i, j, swap) {
    for (i = 2; i <= count[row]; i++)
        for (j = i; j > 1 && values[row, j - 1] + 0 > values[row, j] + 0; j--) {
            swap = values[row, j]; values[row, j] = values[row, j - 1]; values[row, j - 1] = swap
        }
}
function median(row) {
    sort(row)
    return (values[row, int((count[row] + 1) / 2)] + values[row, int(count[row] / 2) + 1]) / 2
}
function ratio(row, other,    i) {
    for (i = 1; i <= count[row]; i++) values["ratio", i] = values[row, i] / values[other, i]
    count["ratio"] = count[row]
    return sprintf("%.2f (%.2f to %.2f)", median("ratio"), values["ratio", 1], values["ratio", count["ratio"]])
}
function unit(what) { return what == "bandwidth" ? "MiB/s" : what == "latency" ? "µs" : what == "cpu_nanos" ? "ns a hit" : "bytes a hit" }
END {
    print "| what | bytes | who | median | least to most | of perftest in the same pair |"
    print "|---|---|---|---|---|---|"
    for (r = 1; r <= rows; r++) {
        split(order[r], name, ",")
        other = name[1] "," name[2] "," (name[1] == "bandwidth" ? "perftest" : "ib_write_lat")
        if (name[3] == "railhead" && other in count) ratios[r] = ratio(order[r], other)
    }
    for (r = 1; r <= rows; r++) {
        row = order[r]; split(row, name, ",")
        printf "| %s | %s | %s | %.1f %s |", name[1], name[2], name[3], median(row), unit(name[1])
        printf " %.1f to %.1f | %s |\n", values[row, 1], values[row, count[row]], ratios[r]
    }
}
