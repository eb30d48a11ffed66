package io.railhead.cli.site;

import io.railhead.client.ListedObject;
import java.util.ArrayList;
import java.util.List;

/**
 * Takes whole objects in the order of a listing, until there are enough. Empty objects, and those
 * larger than the remaining bytes, are skipped. One thread.
 */
final class Choice {
    /** The most keys that are read of a bucket in which nearly nothing fits. */
    static final int MOST_LISTED = 10_000;

    private final long mostBytes;
    private final int mostObjects;
    private final List<ListedObject> taken = new ArrayList<>();
    private long bytes;
    private int listed;
    private int tooLarge;

    Choice(long mostBytes, int mostObjects) {
        this.mostBytes = mostBytes;
        this.mostObjects = mostObjects;
    }

    void offer(ListedObject object) {
        listed++;
        if (isComplete() || object.bytes() == 0) {
            return;
        }
        if (object.bytes() > mostBytes - bytes) {
            tooLarge++;
            return;
        }
        taken.add(object);
        bytes += object.bytes();
    }

    boolean isComplete() {
        return taken.size() == mostObjects || bytes == mostBytes;
    }

    /** Returns whether the listing may end. */
    boolean isOver() {
        return isComplete() || listed >= MOST_LISTED;
    }

    List<ListedObject> taken() {
        return List.copyOf(taken);
    }

    long bytes() {
        return bytes;
    }

    /** Returns how many objects were skipped because of their size. */
    int tooLarge() {
        return tooLarge;
    }
}
