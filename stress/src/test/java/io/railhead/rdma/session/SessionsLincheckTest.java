package io.railhead.rdma.session;

import io.railhead.protocol.message.EndReason;
import io.railhead.stress.Trials;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/** Native sessions as several threads prove, use and end them: Lincheck's stress mode. */
class SessionsLincheckTest {

    @Test
    void aSessionIsProvenOnceAndEndsOnceWithAllThatItHas() {
        Trials.hold(TwoSessions.class, Model.class);
    }

    /** A peer's memory, which is retired once, when its session ends. */
    private static final class Buffer implements MemoryRegion {
        private final AtomicInteger retired;

        Buffer(AtomicInteger retired) {
            this.retired = retired;
        }

        @Override
        public long baseAddress() {
            return 4096;
        }

        @Override
        public long length() {
            return 4096;
        }

        @Override
        public void retire() {
            retired.incrementAndGet();
        }
    }

    /** Of one principal. */
    @Param(name = "session", gen = IntGen.class, conf = "0:1")
    public static class TwoSessions {
        private final ClientSessions clientSessions = new ClientSessions(Duration.ofHours(1), 2, 2);
        private final List<PeerSession> opened = List.of(open(), open());
        private final AtomicInteger registered = new AtomicInteger();
        private final AtomicInteger retired = new AtomicInteger();

        private PeerSession open() {
            return (PeerSession) Objects
                    .requireNonNull(clientSessions.open("ann", "verbs", _ -> new byte[32]));
        }

        @Operation(params = "session")
        public boolean prove(int session) {
            return clientSessions.tryProve(opened.get(session));
        }

        @Operation(params = "session")
        public boolean isOpen(int session) {
            return opened.get(session).isOpen();
        }

        @Operation(params = "session")
        public boolean register(int session) {
            boolean taken = opened.get(session)
                    .tryRegister(new Buffer(retired), ThreadLocalRandom.current()) != 0;
            if (taken) {
                registered.incrementAndGet();
            }
            return taken;
        }

        @Operation(params = "session")
        public void end(int session) {
            opened.get(session).end(EndReason.PEER_GONE);
        }

        @Validate
        public void nothingIsLeftOfWhatHasEnded() {
            int left = 0;
            for (PeerSession session : opened) {
                left += session.regions();
                if (!session.isOpen() && session.regions() != 0) {
                    throw new IllegalStateException("a session has ended, its buffers have not");
                }
            }
            if (registered.get() != retired.get() + left) {
                throw new IllegalStateException(registered + " registered, " + retired
                        + " retired, " + left + " left");
            }
        }
    }

    /** What {@link TwoSessions} are. */
    public static class Model {
        private enum State {
            PENDING,
            OPEN,
            ENDED
        }

        private final State[] states = {State.PENDING, State.PENDING};

        public boolean prove(int session) {
            boolean proven = states[session] == State.PENDING;
            if (proven) {
                states[session] = State.OPEN;
            }
            return proven;
        }

        public boolean isOpen(int session) {
            return states[session] == State.OPEN;
        }

        public boolean register(int session) {
            return isOpen(session);
        }

        public void end(int session) {
            states[session] = State.ENDED;
        }
    }
}
