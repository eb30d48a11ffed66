package io.railhead.gateway.trust;

import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One operation of a history.
 *
 * @param slot its number in the step, and its part of its principal's registered buffer
 * @param first of a ranged read
 * @param length of a ranged read; 0 where it is of all
 * @param content of a write; null where that has none
 * @param mark of what it writes
 * @param source whose content is copied
 * @param window bytes of its part that it may use: more than any version of the key has
 */
public record Operation(int slot, Kind kind, int principal, String path, int first, int length,
        @Nullable Content content, long mark, String source,
        int window) {

    public enum Kind {
        GET,
        GET_BY_TOKEN,
        GET_BY_CHANNEL,
        GET_AND_LEAVE,
        GET_AND_CANCEL,
        HEAD,
        HEAD_BY_CHANNEL,
        LIST,
        PUT,
        PUT_BY_TOKEN,
        PUT_BY_CHANNEL,
        PUT_WITH_WRONG_CHECKSUM,
        MULTIPART,
        COPY,
        DELETE,
        PUT_BEHIND,
        DELETE_BEHIND,
        MARK_BEHIND;

        /** Asks for an object, or for what it is. */
        boolean isRead() {
            return READS.contains(this);
        }

        /** Changes the key. */
        public boolean isWrite() {
            return WRITES.contains(this);
        }

        /** By the client's registered buffer. */
        boolean isOneSided() {
            return ONE_SIDED.contains(this);
        }

        /** Past the gateway, by the store's own door. */
        boolean isBehind() {
            return this == PUT_BEHIND || this == DELETE_BEHIND || this == MARK_BEHIND;
        }
    }

    private static final Set<Kind> READS = EnumSet.range(Kind.GET, Kind.HEAD_BY_CHANNEL);

    private static final Set<Kind> WRITES = EnumSet.range(Kind.PUT, Kind.MARK_BEHIND);

    private static final Set<Kind> ONE_SIDED = EnumSet.of(Kind.GET_BY_TOKEN, Kind.GET_BY_CHANNEL,
            Kind.GET_AND_CANCEL, Kind.PUT_BY_TOKEN, Kind.PUT_BY_CHANNEL);

    public String bucket() {
        return path.substring(1, path.indexOf('/', 1));
    }

    public String key() {
        return path.substring(path.indexOf('/', 1) + 1);
    }

    public boolean isRanged() {
        return length > 0;
    }

    public Operation withoutRange() {
        return new Operation(slot, kind, principal, path, 0, 0, content, mark, source,
                window);
    }

    @Override
    public String toString() {
        return kind + " " + path + (isRanged() ? " " + first + "+" + length : "")
                + (content == null ? "" : " " + content) + " mark " + mark + " of principal "
                + principal;
    }
}
