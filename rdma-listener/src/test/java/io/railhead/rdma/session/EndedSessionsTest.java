package io.railhead.rdma.session;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class EndedSessionsTest {
    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5);
    private final EndedSessions ended = new EndedSessions(clock::get);
    private final ClientSessions clientSessions = new ClientSessions(Duration.ofSeconds(1), 2000,
            2000);

    private PeerSession session() {
        return (PeerSession) requireNonNull(
                clientSessions.open("ann", "loopback", _ -> new byte[32]));
    }

    @Test
    void whatASessionMissedIsRememberedForAMinute() {
        PeerSession session = session();
        ended.remember(session, List.of(ByteBuffer.wrap(new byte[]{1, 2})));
        clock.addAndGet(EndedSessions.LIFE.toNanos() - 1);
        EndedSessions.Remembered found = requireNonNull(ended.find(session.id()));
        assertThat(found.session()).isSameAs(session);
        assertThat(found.toSay().getFirst().get()).isEqualTo((byte) 1);
        assertThat(found.toSay().getFirst().get()).isEqualTo((byte) 1);
        clock.addAndGet(1);
        assertThat(ended.find(session.id())).isNull();
    }

    @Test
    void theOldestGoesWhereThereAreTooMany() {
        PeerSession first = session();
        ended.remember(first, List.of());
        for (int i = 0; i < 1023; i++) {
            ended.remember(session(), List.of());
        }
        assertThat(ended.find(first.id())).isNotNull();
        ended.remember(session(), List.of());
        assertThat(ended.find(first.id())).isNull();
    }
}
