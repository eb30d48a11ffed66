package io.railhead.gateway.trust;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What clients' registered buffers hold where nothing was said to be moved; null: nothing wrong.
 */
record ModelBuffers(ReferenceStore store) {

    /**
     * Nothing was written behind what was moved, but for bytes of another version of the object,
     * where that was replaced in mid-transfer and all of it was moved anew.
     */
    @Nullable
    Observation behind(Operation operation, byte[] buffer, int moved) {
        return isMarked(buffer, moved) ? null : ofObject(operation, buffer, moved);
    }

    /**
     * Where the object was replaced, or went, in mid-transfer, or a right did, the answer is what
     * it then was.
     */
    static boolean mayHaveBegun(int status) {
        return status >= 500 || status == 404 || status == 416 || status == 412 || status == 403;
    }

    /** That something had come before there was no more, where the buffer says so. */
    static Observation ended(Observation seen, byte[] buffer) {
        boolean begun = !isMarked(buffer, 0);
        return switch (seen) {
            case Observation.Refused(String text, boolean _) ->
                new Observation.Refused(text, begun);
            case Observation.Declined(String why, boolean _) ->
                new Observation.Declined(why, begun);
            case Observation.Failed(String how, boolean _) -> new Observation.Failed(how, begun);
            default -> seen;
        };
    }

    /** What somebody has to whom nobody said anything, once nothing moves any more. */
    Observation unanswered(Operation operation, byte[] buffer) {
        Observation unmoved = unmoved(operation, buffer, true);
        return unmoved != null ? unmoved : ended(new Observation.Failed("no answer"), buffer);
    }

    /** Who was not served finds his buffer as it was, but where a transfer broke on its way. */
    @Nullable
    Observation unmoved(Operation operation, byte[] buffer,
            boolean mayHaveBegun) {
        if (isMarked(buffer, 0)) {
            return null;
        }
        if (!mayHaveBegun) {
            return new Observation.Wrong("I1: written to, and declined or refused");
        }
        Observation asAsked = ofObject(operation, buffer, 0);
        // A store may know no ranges, and is relayed: then its object stands there from its start.
        return asAsked == null || !operation.isRanged()
                || ofObject(operation.withoutRange(), buffer, 0) != null ? asAsked : null;
    }

    private static boolean isMarked(byte[] buffer, int from) {
        byte[] marks = new byte[buffer.length - from];
        Arrays.fill(marks, ModelPeers.MARK);
        return Arrays.equals(buffer, from, buffer.length, marks, 0, marks.length);
    }

    /**
     * Every byte from there on is marked still, or stands there in a version of the object, as far
     * as was asked for. By bytes, since a piece may end anywhere in a block, and be the last.
     */
    private @Nullable Observation ofObject(Operation operation, byte[] buffer, int from) {
        int first = operation.first();
        boolean[] good = new boolean[buffer.length];
        String place = store.place(operation);
        store.history(place).forEach(version -> {
            Content content = version.content();
            if (content != null && content.sizeBytes() > first) {
                int asked = operation.isRanged() ? operation.length() : buffer.length;
                int to = Math.min(content.sizeBytes(), first + Math.min(asked, buffer.length));
                // Who is not served may have been given what is wrong before anybody knew.
                byte[] righted = store.righted(place, content, buffer, first,
                        Long.MIN_VALUE);
                markEqual(good, righted, content.bytes(first, to), from);
            }
        });
        for (int at = from; at < buffer.length; at++) {
            if (!good[at] && buffer[at] != ModelPeers.MARK) {
                return new Observation.Wrong("I1: foreign bytes at " + at);
            }
        }
        return null;
    }

    private static void markEqual(boolean[] good, byte[] buffer, byte[] version, int from) {
        for (int at = from; at < version.length; at++) {
            good[at] |= buffer[at] == version[at];
        }
    }
}
