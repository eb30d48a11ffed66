package io.railhead.cache.writeback;

/** A log on a small disk in memory, which no longer flushes once it is told so. */
public final class FailingDisk {
    private final PowerCutDisk disk = new PowerCutDisk(LogRig.FILE);

    public WriteLog open() {
        return LogRig.open(disk);
    }

    public void fail() {
        disk.goodSyncs = 0;
    }
}
