package io.railhead.os;

/** The huge pages that were reserved and are free now, as /proc/meminfo tells. */
record HugePages(long free, long pageBytes) {

    static HugePages read() {
        return of(ProcFields.read(ProcFields.MEMINFO));
    }

    static HugePages of(ProcFields meminfo) {
        return new HugePages(meminfo.number("HugePages_Free", 0),
                meminfo.number("Hugepagesize", 0) * 1024);
    }

    long freeBytes() {
        return free * pageBytes;
    }

    boolean fits(long bytes) {
        return pageBytes > 0 && bytes % pageBytes == 0 && bytes <= freeBytes();
    }
}
