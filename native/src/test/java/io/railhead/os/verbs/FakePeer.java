package io.railhead.os.verbs;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A process on another machine, with a target and memory that whoever knows its number, its key and
 * the memory's may reach. Any thread.
 */
public final class FakePeer implements FakeNic.Target {
    private final FakeNic nic;
    private final int number;
    private final long gidHigh;
    private final long gidLow;
    private final long key;
    private final Map<Integer, MemorySegment> memory = new HashMap<>();
    private int mtuBytes;
    private boolean isStalled;

    FakePeer(FakeNic nic, int number, long gidHigh, long gidLow, long key) {
        this.nic = nic;
        this.number = number;
        this.gidHigh = gidHigh;
        this.gidLow = gidLow;
        this.key = key;
        mtuBytes = nic.port().mtuBytes();
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public long key() {
        return key;
    }

    /** As tokens have it: 32 lowercase hexadecimal digits. */
    public String gid() {
        return "%016x%016x".formatted(gidHigh, gidLow);
    }

    /** Lets initiators write and read it; the remote key. */
    public int register(MemorySegment own) {
        synchronized (nic) {
            int remoteKey = nic.nextKey();
            memory.put(remoteKey, own);
            return remoteKey;
        }
    }

    public void deregister(int remoteKey) {
        synchronized (nic) {
            memory.remove(remoteKey);
        }
    }

    /** Of its path, the port's at first. With any other, requests succeed and move nothing. */
    public void setMtu(int bytes) {
        synchronized (nic) {
            mtuBytes = bytes;
        }
    }

    /** Answers nothing from now on: requests to it stay where they are. */
    public void stall() {
        synchronized (nic) {
            isStalled = true;
        }
    }

    /** Answers again, what waits first. */
    public void resume() {
        synchronized (nic) {
            isStalled = false;
            nic.runAll();
        }
    }

    /** Takes its target away: requests to it find nobody. */
    public void die() {
        synchronized (nic) {
            nic.remove(this);
        }
    }

    @Override
    public boolean isStalled() {
        return isStalled;
    }

    @Override
    public int mtuBytes() {
        return mtuBytes;
    }

    @Override
    public boolean isAt(AddressVector address) {
        return address.gidHigh() == gidHigh && address.gidLow() == gidLow;
    }

    @Override
    public @Nullable MemorySegment find(int remoteKey, long address, long bytes, int access) {
        MemorySegment found = memory.get(remoteKey);
        if (found == null) {
            return null;
        }
        long offset = address - found.address();
        return offset < 0 || bytes > found.byteSize() - offset
                ? null
                : found.asSlice(offset, bytes);
    }
}
