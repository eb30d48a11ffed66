# The figures of `measure` (what, bytes, who, value) as a Markdown table of medians and spreads.
BEGIN { FS = "," }
{ row = $1 "," $2 "," $3; if (!(row in count)) order[++rows] = row; values[row, ++count[row]] = $4 }
function sort(row,    i, j, swap) {
    for (i = 2; i <= count[row]; i++)
        for (j = i; j > 1 && values[row, j - 1] > values[row, j]; j--) {
            swap = values[row, j]; values[row, j] = values[row, j - 1]; values[row, j - 1] = swap
        }
}
function median(row) { return (values[row, int((count[row] + 1) / 2)] + values[row, int(count[row] / 2) + 1]) / 2 }
function unit(what) { return what == "bandwidth" ? "MiB/s" : what == "latency" ? "µs" : what == "cpu_nanos" ? "ns a hit" : "bytes a hit" }
END {
    print "| what | bytes | who | median | least to most | of perftest |"
    print "|---|---|---|---|---|---|"
    for (r = 1; r <= rows; r++) {
        row = order[r]; split(row, name, ","); sort(row)
        other = name[1] "," name[2] "," (name[1] == "bandwidth" ? "perftest" : "ib_write_lat")
        ratio = name[3] == "railhead" && other in count ? sprintf("%.2f", median(row) / median(other)) : ""
        printf "| %s | %s | %s | %.1f %s | %.1f to %.1f | %s |\n", name[1], name[2], name[3], median(row), unit(name[1]),
            values[row, 1], values[row, count[row]], ratio
    }
}
