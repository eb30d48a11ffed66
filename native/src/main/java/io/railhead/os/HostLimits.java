package io.railhead.os;

/**
 * What this process may use, in bytes.
 *
 * @param availableBytes
 *            memory the kernel says can be had now without swapping, or the control group's
 *            remaining limit if that is less
 * @param memlockBytes
 *            what may be locked: {@link Long#MAX_VALUE} if unlimited or CAP_IPC_LOCK
 */
public record HostLimits(long availableBytes, long memlockBytes) {

    public static HostLimits read() {
        throw new UnsupportedOperationException();
    }
}
