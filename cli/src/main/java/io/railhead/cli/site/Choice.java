package io.railhead.cli.site;

import io.railhead.client.ListedObject;
import java.util.ArrayList;
import java.util.List;

/**
 * Takes whole objects in the order of a listing, until there are enough: one that is larger than
 * what is left is passed over, and so is an empty one. One thread.
 */
final class Choice {
    /** Of a bucket in which nearly nothing fits, no more keys are looked at. */
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

    /** Whether the listing need not go on. */
    boolean isOver() {
        return isComplete() || listed >= MOST_LISTED;
    }

    List<ListedObject> taken() {
        return List.copyOf(taken);
    }

    long bytes() {
        return bytes;
    }

    /** How many were passed over because they are larger than what was left. */
    int tooLarge() {
        return tooLarge;
    }
}
