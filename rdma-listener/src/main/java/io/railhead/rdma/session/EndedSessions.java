package io.railhead.rdma.session;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Sessions that ended where nothing more could be said, as over a queue pair in error: a peer that
 * says HELLO again, and proves the session's key, is told what it missed. Bounded in number and
 * time; the oldest go first. Any thread.
 */
public final class EndedSessions {
    /** For which a session is remembered. */
    public static final Duration LIFE = Duration.ofSeconds(60);
    private static final int MAX_REMEMBERED = 1024;

    /**
     * What is left of a session.
     *
     * @param session to check the proof with: its key is still there
     * @param messages ENDED, as bytes, to be said in place of WELCOME; not to be changed
     */
    public record Remembered(PeerSession session, List<ByteBuffer> messages, long untilNanos) {

        /** Copies over the same bytes, ready to be read. */
        public List<ByteBuffer> toSay() {
            return messages.stream().map(ByteBuffer::asReadOnlyBuffer).toList();
        }
    }

    private final LongSupplier nanoClock;
    /** By id, in the order in which they expire. */
    private final Map<String, Remembered> byId = new LinkedHashMap<>();

    public EndedSessions() {
        this(System::nanoTime);
    }

    EndedSessions(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /**
     * Remembers why a session that has ended did, and what became of its requests.
     *
     * @param messages as {@code EndedMessage.encode} makes them
     */
    public synchronized void remember(PeerSession session, List<ByteBuffer> messages) {
        forgetExpired();
        byId.remove(session.id());
        byId.put(session.id(), new Remembered(session, List.copyOf(messages),
                nanoClock.getAsLong() + LIFE.toNanos()));
        if (byId.size() > MAX_REMEMBERED) {
            byId.remove(byId.keySet().iterator().next());
        }
    }

    /** The session of this id that ended lately; null if there is none. */
    public synchronized @Nullable Remembered find(String id) {
        forgetExpired();
        return byId.get(id);
    }

    private void forgetExpired() {
        long now = nanoClock.getAsLong();
        Iterator<Remembered> oldestFirst = byId.values().iterator();
        while (oldestFirst.hasNext() && oldestFirst.next().untilNanos() - now <= 0) {
            oldestFirst.remove();
        }
    }
}
