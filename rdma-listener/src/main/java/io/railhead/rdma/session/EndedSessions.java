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
 * Sessions whose end could not be reported, for example over a queue pair in error. A peer that
 * sends HELLO again, and proves the session's key, then gets the report. Bounded in number and
 * time; the oldest go first. Any thread.
 */
public final class EndedSessions {
    /** The time for which a session is remembered. */
    public static final Duration LIFE = Duration.ofSeconds(60);
    private static final int MAX_REMEMBERED = 1024;

    /**
     * A session that has ended.
     *
     * @param session the session with its key, to check the proof
     * @param messages encoded ENDED messages, to be sent in place of WELCOME; must not be changed
     */
    public record Remembered(PeerSession session, List<ByteBuffer> messages, long untilNanos) {

        /** Returns views of the same bytes, ready to be read. */
        public List<ByteBuffer> toSay() {
            return messages.stream().map(ByteBuffer::asReadOnlyBuffer).toList();
        }
    }

    private final LongSupplier nanoClock;
    /** By id, in order of expiry. */
    private final Map<String, Remembered> byId = new LinkedHashMap<>();

    public EndedSessions() {
        this(System::nanoTime);
    }

    EndedSessions(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /**
     * Remembers why a session ended, and the outcome of its requests.
     *
     * @param messages the result of {@code EndedMessage.encode}
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

    /** Returns the session of this id that ended lately; null if there is none. */
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
