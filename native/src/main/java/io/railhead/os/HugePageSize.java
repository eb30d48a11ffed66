package io.railhead.os;

/** The sizes of huge pages that x86_64 and aarch64 (with base pages of 4 KiB) have in common. */
public enum HugePageSize {
    MIB_2("2MiB", "2MB", 21),
    GIB_1("1GiB", "1GB", 30);

    private final String text;
    private final String groupName;
    private final int shift;

    HugePageSize(String text, String groupName, int shift) {
        this.text = text;
        this.groupName = groupName;
        this.shift = shift;
    }

    public long bytes() {
        return 1L << shift;
    }

    /** Returns the size in file names of a control group. */
    String groupName() {
        return groupName;
    }

    /** Returns the flags for memfd_create. */
    int flags() {
        return Libc.MFD_HUGETLB | shift << Libc.MFD_HUGE_SHIFT;
    }

    /** Returns the size in configuration, such as 2MiB. */
    @Override
    public String toString() {
        return text;
    }
}
