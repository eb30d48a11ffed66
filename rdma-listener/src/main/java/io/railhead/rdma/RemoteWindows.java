package io.railhead.rdma;

import io.railhead.rdma.session.ClientSession;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Ranges of one peer's memory that one request fills or empties in this order, as if they were one.
 * Each lies within a buffer of the one session.
 */
public record RemoteWindows(List<RemoteBuffer> windows) {

    public RemoteWindows {
        windows = List.copyOf(windows);
        if (windows.isEmpty()) {
            throw new IllegalArgumentException("windows must not be empty");
        }
        ClientSession session = windows.getFirst().session();
        if (!windows.stream().allMatch(window -> window.session().equals(session))) {
            throw new IllegalArgumentException("windows must be of one session");
        }
    }

    public static RemoteWindows of(RemoteBuffer window) {
        return new RemoteWindows(List.of(window));
    }

    public ClientSession session() {
        return windows.getFirst().session();
    }

    /** Returns the bytes of all windows. */
    public long length() {
        return windows.stream().mapToLong(RemoteBuffer::length).sum();
    }

    /** Returns whether two windows have a byte in common, by the peer's addresses. */
    public boolean overlap() {
        List<RemoteBuffer> ordered = new ArrayList<>(windows);
        ordered.sort(Comparator.comparing(RemoteBuffer::address, Long::compareUnsigned));
        for (int i = 1; i < ordered.size(); i++) {
            RemoteBuffer before = ordered.get(i - 1);
            if (Long.compareUnsigned(ordered.get(i).address() - before.address(),
                    before.length()) < 0) {
                return true;
            }
        }
        return false;
    }

    /**
     * Begins one transfer through all windows. Throws {@link TransferException} unless the session
     * has each buffer registered now; then nothing has moved, and nothing will.
     */
    public Transfer begin(Fabric fabric) {
        if (windows.size() == 1) {
            return fabric.begin(windows.getFirst());
        }
        List<WindowedTransfer.Part> parts = new ArrayList<>(windows.size());
        long start = 0;
        for (RemoteBuffer window : windows) {
            parts.add(new WindowedTransfer.Part(fabric.begin(window), start, window.length()));
            start += window.length();
        }
        return new WindowedTransfer(parts);
    }
}
