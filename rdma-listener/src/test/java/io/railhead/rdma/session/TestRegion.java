package io.railhead.rdma.session;

/** A region without memory that remembers whether it was retired. */
final class TestRegion implements MemoryRegion {
    private final long baseAddress;
    private final long length;
    boolean retired;

    TestRegion(long baseAddress, long length) {
        this.baseAddress = baseAddress;
        this.length = length;
    }

    @Override
    public long baseAddress() {
        return baseAddress;
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public void retire() {
        retired = true;
    }
}
