package io.railhead.rdma.session;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.railhead.protocol.message.EndReason;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

class ClientSessionsTest {
    private static final Duration LIFE = Duration.ofSeconds(30);
    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5);
    private ClientSessions clientSessions = sessions(new SecureRandom());

    private ClientSessions sessions(SecureRandom random) {
        return new ClientSessions(LIFE, 10, 4, clock::get, random);
    }

    @Test
    void aSessionHasARandomIdAndANumberOf24Bits() {
        Set<String> ids = new HashSet<>();
        for (int i = 0; i < 8; i++) {
            ClientSession clientSession = requireNonNull(
                    clientSessions.open("p" + i, "loopback", _ -> new byte[32]));
            assertThat(clientSession.id()).matches("[0-9a-f]{32}");
            assertThat(clientSession.number()).isBetween(1, (1 << 24) - 1);
            assertThat(ids.add(clientSession.id())).isTrue();
        }
    }

    @Test
    void theKeyIsMadeForTheIdThatIsAnswered() {
        String[] seen = new String[1];
        ClientSession clientSession = requireNonNull(clientSessions.open("ann", "loopback", id -> {
            seen[0] = id;
            return new byte[32];
        }));
        assertThat(seen[0]).isEqualTo(clientSession.id());
    }

    @Test
    void aNumberIsNeverZeroNorThatOfALivingSession() {
        clientSessions = sessions(new ScriptedRandom(0, 5, 5, 0, 9));
        assertThat(pending("ann").number()).isEqualTo(5);
        assertThat(pending("ann").number()).isEqualTo(9);
    }

    @Test
    void anEndIsOneLineInTheLogWithWhoWhyAndWhatItCameTo() {
        PeerSession session = requireNonNull(clientSessions.openPaired("ann", "verbs"));
        session.peer("10.0.0.7");
        session.asked();
        session.asked();
        session.moved(4096);
        List<String> lines = linesOf(() -> {
            session.end(EndReason.SILENT);
            session.end(EndReason.REVOKED);
        });
        assertThat(lines).hasSize(1);
        assertThat(lines.getFirst()).matches("verbs session " + session.label()
                + " of principal ann at 10\\.0\\.0\\.7 ended: silent; open for \\d+ ms,"
                + " 2 requests, 4096 bytes");
        assertThat(linesOf(() -> pending("ann").end(EndReason.REVOKED))).as("never open")
                .isEmpty();
    }

    private static List<String> linesOf(Runnable step) {
        Logger logger = (Logger) LoggerFactory.getLogger(ClientSessions.class);
        Level before = logger.getLevel();
        ListAppender<ILoggingEvent> written = new ListAppender<>();
        written.start();
        logger.setLevel(Level.INFO);
        logger.addAppender(written);
        try {
            step.run();
            return written.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
        } finally {
            logger.detachAppender(written);
            logger.setLevel(before);
        }
    }

    @Test
    void aPendingSessionIsNotOpen() {
        PeerSession session = pending("ann");
        assertThat(session.isOpen()).isFalse();
        assertThat(clientSessions.open()).isZero();
        assertThat(refusal("ann", session.number(), 0, 1, 1)).isEqualTo(Reason.UNKNOWN_SESSION);
    }

    @Test
    void aPairedSessionIsOpenAtOnceCountsLikeAnyOtherAndProvesNothing() {
        PeerSession paired = requireNonNull(clientSessions.openPaired("ann", "verbs"));
        assertThat(paired.isOpen()).isTrue();
        assertThat(clientSessions.findPending(paired.id(), "verbs")).isNull();
        assertThat(clientSessions.tryProve(paired)).isFalse();
        assertThat(refusal("ann", paired.number(), 0, 1, 1)).isEqualTo(Reason.UNKNOWN_KEY);
        for (int i = 0; i < 3; i++) {
            var _ = pending("ann");
        }
        assertThat(clientSessions.openPaired("ann", "verbs")).isNull();
        assertThat(clientSessions.openPaired("bob", "verbs")).isNotNull();
        clientSessions.revoke("ann");
        assertThat(paired.isOpen()).isFalse();
        assertThat(clientSessions.openPaired("ann", "verbs")).isNotNull();
    }

    @Test
    void aSuspendedPrincipalIsPairedWithNothing() {
        for (int i = 0; i < Suspensions.ERRORS; i++) {
            requireNonNull(clientSessions.openPaired("ann", "verbs")).end(EndReason.ACCESS);
        }
        assertThat(clientSessions.openPaired("ann", "verbs")).isNull();
    }

    @Test
    void aPendingSessionExpires() {
        PeerSession session = pending("ann");
        clock.addAndGet(LIFE.toNanos() - 1);
        assertThat(clientSessions.findPending(session.id(), "loopback")).isSameAs(session);
        clock.addAndGet(1);
        assertThat(clientSessions.findPending(session.id(), "loopback")).isNull();
        assertThat(clientSessions.tryProve(session)).isFalse();
        assertThat(session.isOpen()).isFalse();
    }

    @Test
    void aProvenSessionDoesNotExpire() {
        PeerSession session = open("ann");
        clock.addAndGet(10 * LIFE.toNanos());
        assertThat(clientSessions.open()).isEqualTo(1);
        assertThat(session.isOpen()).isTrue();
    }

    @Test
    void aSessionIsProvenOnce() {
        PeerSession session = open("ann");
        assertThat(clientSessions.findPending(session.id(), "loopback")).isNull();
        assertThat(clientSessions.tryProve(session)).isFalse();
    }

    @Test
    void onePrincipalCannotTakeAllSessions() {
        for (int i = 0; i < 4; i++) {
            open("ann");
        }
        assertThat(clientSessions.open("ann", "loopback", _ -> new byte[32])).isNull();
        assertThat(clientSessions.open("bob", "loopback", _ -> new byte[32])).isNotNull();
    }

    @Test
    void tooManyPendingSessionsAreRefusedUntilSomeExpire() {
        for (int i = 0; i < 10; i++) {
            pending("p" + i);
        }
        assertThat(clientSessions.open("ann", "loopback", _ -> new byte[32])).isNull();
        clock.addAndGet(LIFE.toNanos());
        assertThat(clientSessions.open("ann", "loopback", _ -> new byte[32])).isNotNull();
    }

    @Test
    void revokingEndsAPrincipalsSessionsAndNoOthers() {
        PeerSession proven = open("ann");
        PeerSession waiting = pending("ann");
        PeerSession other = open("bob");
        clientSessions.revoke("ann");
        assertThat(proven.isOpen()).isFalse();
        assertThat(clientSessions.tryProve(waiting)).isFalse();
        assertThat(other.isOpen()).isTrue();
        assertThat(clientSessions.open()).isEqualTo(1);
    }

    @Test
    void repeatedAccessErrorsSuspendAPrincipalForAWhileAndNobodyElse() {
        PeerSession another = open("bob");
        for (int i = 1; i < Suspensions.ERRORS; i++) {
            open("ann").end(EndReason.ACCESS);
        }
        assertThat(clientSessions.isSuspended("ann")).isFalse();
        PeerSession waiting = pending("ann");
        PeerSession proven = open("ann");
        open("ann").end(EndReason.ACCESS);

        assertThat(clientSessions.isSuspended("ann")).isTrue();
        assertThat(clientSessions.open("ann", "verbs", _ -> new byte[32])).isNull();
        assertThat(proven.endReason()).isEqualTo(EndReason.ACCESS);
        assertThat(proven.isOpen()).isFalse();
        assertThat(clientSessions.tryProve(waiting)).isFalse();
        assertThat(another.isOpen()).isTrue();
        assertThat(clientSessions.isSuspended("bob")).isFalse();

        clock.addAndGet(Suspensions.SUSPENDED.toNanos());
        assertThat(clientSessions.isSuspended("ann")).isFalse();
        assertThat(open("ann").isOpen()).isTrue();
    }

    @Test
    void whoGuessesKeysOrSessionsIsSuspendedToo() {
        PeerSession another = open("bob");
        PeerSession own = open("ann");
        for (int i = 0; i < Suspensions.ERRORS; i++) {
            int number = i % 2 == 0 ? another.number() : own.number();
            assertThat(clientSessions.isSuspended("ann")).isFalse();
            assertThatThrownBy(() -> clientSessions.resolve("ann", number, 0, 1, 1))
                    .isInstanceOf(TransferException.class);
        }
        assertThat(clientSessions.isSuspended("ann")).isTrue();
        assertThat(own.isOpen()).isFalse();
        assertThat(another.isOpen()).isTrue();
    }

    @Test
    void accessErrorsThatLieFarApartSuspendNobody() {
        for (int i = 0; i < 3 * Suspensions.ERRORS; i++) {
            open("ann").end(EndReason.ACCESS);
            clock.addAndGet(Suspensions.WATCHED.toNanos() / (Suspensions.ERRORS - 1));
        }
        assertThat(clientSessions.isSuspended("ann")).isFalse();
    }

    @Test
    void otherEndsSuspendNobody() {
        for (int i = 0; i < 3 * Suspensions.ERRORS; i++) {
            open("ann").end(EndReason.FENCED);
        }
        assertThat(clientSessions.isSuspended("ann")).isFalse();
    }

    @Test
    void theEndOfASessionIsHeardOnce() {
        PeerSession session = open("ann");
        AtomicInteger heard = new AtomicInteger();
        session.onEnd(heard::incrementAndGet);
        session.end(EndReason.REVOKED);
        session.end(EndReason.REVOKED);
        assertThat(heard).hasValue(1);
        session.onEnd(heard::incrementAndGet);
        assertThat(heard).hasValue(2);
    }

    @Test
    void theEndOfASessionRetiresItsBuffers() {
        PeerSession session = open("ann");
        TestRegion region = new TestRegion(0, 10);
        int key = session.tryRegister(region, new SecureRandom());
        session.end(EndReason.REVOKED);
        assertThat(region.retired).isTrue();
        assertThat(session.findRegion(key)).isNull();
        assertThat(session.tryRegister(new TestRegion(0, 10), new SecureRandom())).isZero();
    }

    @Test
    void aKeyIsNeverZeroNorGivenTwice() {
        PeerSession session = open("ann");
        ScriptedRandom random = new ScriptedRandom(0, 3, 3, 4, 3, 5);
        assertThat(session.tryRegister(new TestRegion(0, 10), random)).isEqualTo(3);
        assertThat(session.tryRegister(new TestRegion(0, 10), random)).isEqualTo(4);
        assertThat(session.deregister(3)).isNotNull();
        assertThat(session.deregister(3)).isNull();
        assertThat(session.tryRegister(new TestRegion(0, 10), random)).isEqualTo(5);
    }

    @Test
    void whatATokenNamesIsResolved() {
        PeerSession session = open("ann");
        int key = session.tryRegister(new TestRegion(0x1000, 0x100), new SecureRandom());
        assertThat(clientSessions.resolve("ann", session.number(), 0x1010, 0xf0, key).session())
                .isSameAs(session);
    }

    @Test
    void checksAreMadeInOrder() {
        PeerSession session = open("ann");
        int key = session.tryRegister(new TestRegion(0x1000, 0x100), new ScriptedRandom(7));
        int number = session.number();
        assertThat(refusal("bob", number ^ 1, 0, 0, 8)).isEqualTo(Reason.UNKNOWN_SESSION);
        assertThat(refusal("bob", number, 0, 0, 8)).isEqualTo(Reason.FOREIGN_SESSION);
        assertThat(refusal("ann", number, 0, 0, 8)).isEqualTo(Reason.UNKNOWN_KEY);
        assertThat(refusal("ann", number, 0, 0, key)).isEqualTo(Reason.OUT_OF_BOUNDS);
        session.end(EndReason.REVOKED);
        assertThat(refusal("ann", number, 0x1000, 1, key)).isEqualTo(Reason.UNKNOWN_SESSION);
    }

    @ParameterizedTest
    @CsvSource({"1000, 1000, 100, true", "1000, 10ff, 1, true", "1000, fff, 1, false",
            "1000, 1100, 1, false", "1000, 1000, 101, false", "1000, 10ff, 2, false",
            "1000, 1000, 0, false", "1000, 1001, 7fffffffffffffff, false",
            "1000, 1001, ffffffffffffffff, false", "1000, ffffffffffffffff, 1, false",
            // Over the middle of the address space, where signed comparison would fail.
            "7fffffffffffff80, 7fffffffffffff80, 100, true",
            "7fffffffffffff80, 8000000000000000, 80, true",
            "7fffffffffffff80, 8000000000000000, 81, false",
            "7fffffffffffff80, 7fffffffffffff7f, 1, false",
            // At its end.
            "ffffffffffffff00, ffffffffffffff00, 100, true",
            "ffffffffffffff00, ffffffffffffffff, 1, true",
            "ffffffffffffff00, ffffffffffffffff, 2, false", "ffffffffffffff00, 0, 1, false"})
    void aWindowMustLieWithinTheBuffer(String base, String address, String length, boolean in) {
        TestRegion region = new TestRegion(Long.parseUnsignedLong(base, 16), 0x100);
        assertThat(region.contains(Long.parseUnsignedLong(address, 16),
                Long.parseUnsignedLong(length, 16))).isEqualTo(in);
    }

    private PeerSession pending(String principal) {
        return (PeerSession) requireNonNull(
                clientSessions.open(principal, "loopback", _ -> new byte[32]));
    }

    private PeerSession open(String principal) {
        PeerSession session = pending(principal);
        assertThat(clientSessions.tryProve(session)).isTrue();
        return session;
    }

    private Reason refusal(String principal, int number, long address, long length, int key) {
        return catchThrowableOfType(TransferException.class,
                () -> clientSessions.resolve(principal, number, address, length, key)).reason();
    }
}
