package io.railhead.rdma.dc;

import static io.railhead.rdma.Awaiting.failure;
import static io.railhead.rdma.Awaiting.result;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cache.memory.MemoryConfig;
import io.railhead.os.verbs.AsyncEvent;
import io.railhead.os.verbs.FakeMlx5;
import io.railhead.os.verbs.PortAttributes;
import io.railhead.os.verbs.RequiresRdmaCore;
import io.railhead.rdma.Awaiting;
import io.railhead.rdma.QueuePairState;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.TestBuffer;
import io.railhead.rdma.TestPages;
import io.railhead.rdma.TestPeer;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.dc.DcFabricConfig.OutstandingBytes;
import io.railhead.rdma.dc.DcFabricConfig.Pool;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What is particular to initiators: whose they are, who has one, and what a reset stops. Long by
 * its set-up.
 */
@Timeout(120)
@RequiresRdmaCore
class DcRequestsTest {
    private static final int BYTES = 1 << 20;
    private static final byte UNTOUCHED = 0x5a;
    private static final MemoryConfig FEW = new MemoryConfig(32L << 20, BYTES, 0, false);

    private DcRig rig;
    private TestPages pages;

    @BeforeEach
    void start() throws IOException {
        rig = DcRig.start();
        pages = new TestPages(rig.fabric(), FEW);
    }

    /** Another one, in place of that with the tests' defaults. */
    private void start(DcFabricConfig config) throws IOException {
        nothingIsLeft();
        rig = DcRig.start(config);
        pages = new TestPages(rig.fabric(), FEW);
    }

    private void start(Pool pool) throws IOException {
        start(DcRig.config().with(pool));
    }

    @AfterEach
    void nothingIsLeft() {
        rig.adapter.release();
        rig.close();
        assertThat(rig.stats().queuePairs().values()).allMatch(pairs -> pairs == 0);
        pages.close();
    }

    /** Memory of a peer of its own, and a way to write it. */
    private final class Window {
        private final TestPeer peer = rig.connect("");
        private final TestBuffer buffer;
        private final String principal;

        Window(String principal) throws IOException {
            this.principal = principal;
            buffer = peer.register(BYTES);
            buffer.memory().fill(UNTOUCHED);
        }

        RemoteBuffer window() {
            return rig.resolve(principal, peer.sessionNumber(), buffer.address(), BYTES,
                    buffer.key());
        }

        Transfer begin() {
            return rig.fabric().begin(window());
        }

        boolean isCrowded() {
            return !rig.fabric().health(window().session()).usable();
        }

        byte[] bytes() {
            return buffer.memory().toArray(JAVA_BYTE);
        }
    }

    private CompletionStage<Void> write(Transfer transfer, int fill) {
        byte[] bytes = new byte[BYTES];
        Arrays.fill(bytes, (byte) fill);
        return transfer.write(pages.of(bytes), 0);
    }

    private void awaitPosted(int requests) {
        Awaiting.until("requests are posted", () -> rig.adapter.posted().size() == requests);
    }

    @Test
    void anInitiatorHasOneRequestAtATimeAndTheNextOneWaitsItsTurn() throws IOException {
        start(Pool.DEFAULT.withInitiators(1));
        rig.adapter.hold();
        Window one = new Window("ann");
        Window other = new Window("ann");
        CompletionStage<Void> first = write(one.begin(), 1);
        awaitPosted(1);
        CompletionStage<Void> second = write(other.begin(), 2);
        Awaiting.until("it waits", other::isCrowded);
        assertThat(rig.adapter.posted()).hasSize(1);
        rig.adapter.release();
        result(first);
        result(second);
        assertThat(rig.adapter.initiators()).isEqualTo(1);
        assertThat(one.bytes()).containsOnly(1);
        assertThat(other.bytes()).containsOnly(2);
        Awaiting.until("there is room", () -> !other.isCrowded());
    }

    @Test
    void aFullLineTurnsAwayItsOwnTenantAlone() throws IOException {
        start(Pool.DEFAULT.withInitiators(1));
        rig.adapter.hold();
        Window ann = new Window("ann");
        CompletionStage<Void> first = write(ann.begin(), 1);
        CompletionStage<Void> second = write(ann.begin(), 1);
        Awaiting.until("it waits", ann::isCrowded);
        assertThat(rig.fabric().health(ann.window().session()).reason())
                .isEqualTo("all initiators of tenant tenant of ann are in use");
        Window bob = new Window("bob");
        assertThat(bob.isCrowded()).isFalse();
        CompletionStage<Void> third = write(bob.begin(), 3);
        awaitPosted(2);
        rig.adapter.release();
        List.of(first, second, third).forEach(Awaiting::result);
    }

    @Test
    void aFenceStopsItsOwnRequestAndNoOther() throws IOException {
        rig.adapter.hold();
        Window one = new Window("ann");
        Window other = new Window("ann");
        Transfer stopped = one.begin();
        CompletionStage<Void> lost = write(stopped, 1);
        awaitPosted(1);
        CompletionStage<Void> arriving = write(other.begin(), 2);
        awaitPosted(2);
        result(stopped.fence());
        assertThat(failure(lost)).isEqualTo(Reason.FENCED);
        assertThat(pages.leases()).isEqualTo(1);
        assertThat(arriving.toCompletableFuture()).isNotDone();
        rig.adapter.release();
        result(arriving);
        assertThat(one.bytes()).containsOnly(UNTOUCHED);
        assertThat(other.bytes()).containsOnly(2);
    }

    @Test
    void aFenceInTheLineLeavesTheLine() throws IOException {
        start(Pool.DEFAULT.withInitiators(1));
        rig.adapter.hold();
        Window window = new Window("ann");
        CompletionStage<Void> first = write(window.begin(), 1);
        Transfer waiting = window.begin();
        CompletionStage<Void> second = write(waiting, 2);
        Awaiting.until("it waits", window::isCrowded);
        result(waiting.fence());
        assertThat(failure(second)).isEqualTo(Reason.FENCED);
        Awaiting.until("there is room", () -> !window.isCrowded());
        rig.adapter.release();
        result(first);
        assertThat(window.bytes()).containsOnly(1);
        assertThat(rig.adapter.posted()).hasSize(1);
    }

    @Test
    void aFencedInitiatorServesTheNextRequest() throws IOException {
        start(Pool.DEFAULT.withInitiators(1));
        Window window = new Window("ann");
        for (int round = 1; round <= 3; round++) {
            rig.adapter.hold();
            Transfer transfer = window.begin();
            CompletionStage<Void> lost = write(transfer, 9);
            awaitPosted(2 * round - 1);
            result(transfer.fence());
            assertThat(failure(lost)).isEqualTo(Reason.FENCED);
            rig.adapter.release();
            result(write(window.begin(), round));
            assertThat(window.bytes()).containsOnly(round);
        }
        assertThat(rig.adapter.initiators()).isEqualTo(1);
    }

    @Test
    void tenantsNeverShareAnInitiator() throws IOException {
        List<Set<Integer>> used = new ArrayList<>();
        for (String principal : List.of("ann", "bob", "carl")) {
            int before = rig.adapter.posted().size();
            for (int i = 0; i < 3; i++) {
                result(write(new Window(principal).begin(), 1));
            }
            used.add(rig.adapter.posted()
                    .stream()
                    .skip(before)
                    .map(FakeMlx5.Posted::initiator)
                    .collect(Collectors.toSet()));
        }
        assertThat(used.stream().flatMap(Set::stream)).doesNotHaveDuplicates();
    }

    @Test
    void whoFindsNoRoomGetsTheOneThatAnotherTenantLeftIdle() throws IOException {
        start(Pool.DEFAULT.withCompletions(Pool.DEFAULT.requests()));
        result(write(new Window("ann").begin(), 1));
        result(write(new Window("bob").begin(), 2));
        result(write(new Window("ann").begin(), 3));
        assertThat(rig.adapter.initiators()).isEqualTo(1);
    }

    @Test
    void whoFindsNoRoomAndNoneIdleIsRefused() throws IOException {
        start(Pool.DEFAULT.withCompletions(Pool.DEFAULT.requests()));
        rig.adapter.hold();
        CompletionStage<Void> held = write(new Window("ann").begin(), 1);
        awaitPosted(1);
        assertThat(failure(write(new Window("bob").begin(), 2))).isEqualTo(Reason.UNAVAILABLE);
        rig.adapter.release();
        result(held);
    }

    @Test
    void aKeyThatTheClientNeverGaveIsCountedAndSuspends() throws IOException {
        Window window = new Window("ann");
        RemoteBuffer good = window.window();
        for (int i = 0; i < 5; i++) {
            assertThat(rig.sessions().isSuspended("ann")).isFalse();
            Transfer transfer = rig.fabric()
                    .begin(new RemoteBuffer(good.session(), good.address(), BYTES, ~good.key()));
            assertThat(failure(write(transfer, 1))).isEqualTo(Reason.REMOTE_ACCESS);
            assertThat(failure(write(transfer, 1))).isEqualTo(Reason.REMOTE_ACCESS);
            result(transfer.fence());
        }
        assertThat(rig.fabric().stats().refused(Reason.REMOTE_ACCESS)).isEqualTo(10);
        Awaiting.until("it is suspended", () -> rig.sessions().isSuspended("ann"));
        result(write(window.begin(), 2));
        assertThat(window.bytes()).containsOnly(2);
    }

    @Test
    void whatWasPostedBeforeAFailureArrivedAndWhatCameBehindDidNot() throws IOException {
        Window window = new Window("ann");
        rig.adapter.hold();
        Transfer transfer = window.begin();
        CompletionStage<Void> first = transfer.write(pages.of(new byte[]{1}), 0);
        awaitPosted(1);
        rig.adapter.release();
        result(first);
        window.buffer.deregister();
        CompletionStage<Void> second = transfer.write(pages.of(new byte[]{2}), 1);
        assertThat(failure(second)).isEqualTo(Reason.REMOTE_ACCESS);
        assertThat(failure(transfer.write(pages.of(new byte[]{3}), 2)))
                .isEqualTo(Reason.REMOTE_ACCESS);
        assertThat(window.bytes()).startsWith(1, UNTOUCHED, UNTOUCHED);
    }

    @Test
    void anotherDcKeyReachesNobody() throws IOException {
        start(DcRig.config().with(new DcKey(1)));
        Window window = new Window("ann");
        Transfer transfer = window.begin();
        assertThat(failure(write(transfer, 1))).isEqualTo(Reason.PEER_GONE);
        result(transfer.fence());
        assertThat(window.bytes()).containsOnly(UNTOUCHED);
        assertThat(rig.sessions().isSuspended("ann")).isFalse();
    }

    @Test
    void aWayIsKeptForTheNextRequestAndLookedForAgainWhenItLedNowhere() throws IOException {
        Window window = new Window("ann");
        result(write(window.begin(), 1));
        result(write(window.begin(), 2));
        assertThat(rig.adapter.addressHandles()).isEqualTo(1);
        rig.fake(window.peer).die();
        assertThat(failure(write(window.begin(), 3))).isEqualTo(Reason.PEER_GONE);
        Awaiting.until("it is given back", () -> rig.adapter.addressHandles() == 0);
    }

    @Test
    void noMoreWaysAreKeptThanConfigured() throws IOException {
        start(Pool.DEFAULT.withHandles(2));
        for (int i = 0; i < 5; i++) {
            result(write(new Window("ann").begin(), 1));
        }
        Awaiting.until("two are kept", () -> rig.adapter.addressHandles() == 2);
    }

    @Test
    void whereThereIsNoWayNothingIsPostedAndTheNextRequestLooksAgain() throws IOException {
        Window window = new Window("ann");
        rig.adapter.fail("ibv_create_ah", 110);
        assertThat(failure(write(window.begin(), 1))).isEqualTo(Reason.PEER_GONE);
        rig.adapter.fail("ibv_create_ah", 0);
        result(write(window.begin(), 2));
        assertThat(rig.adapter.posted()).hasSize(1);
    }

    @Test
    void aPrincipalsBytesUnderWayAreBounded() throws IOException {
        start(DcRig.config().with(new OutstandingBytes(BYTES, 4 * BYTES)));
        rig.adapter.hold();
        CompletionStage<Void> first = write(new Window("ann").begin(), 1);
        awaitPosted(1);
        CompletionStage<Void> second = write(new Window("ann").begin(), 2);
        CompletionStage<Void> others = write(new Window("bob").begin(), 3);
        awaitPosted(2);
        assertThat(second.toCompletableFuture()).isNotDone();
        rig.adapter.release();
        List.of(first, second, others).forEach(Awaiting::result);
    }

    @Test
    void whereNoInitiatorCanBeMadeTheRequestFailsAndALaterOneIsServed() throws IOException {
        rig.adapter.fail("mlx5dv_create_qp", 12);
        assertThat(failure(write(new Window("ann").begin(), 1))).isEqualTo(Reason.UNAVAILABLE);
        rig.adapter.fail("mlx5dv_create_qp", 0);
        rig.adapter.fail("ibv_modify_qp to RTS", 22);
        assertThat(failure(write(new Window("ann").begin(), 1))).isEqualTo(Reason.UNAVAILABLE);
        assertThat(rig.adapter.initiators()).isZero();
        rig.adapter.fail("ibv_modify_qp to RTS", 0);
        result(write(new Window("ann").begin(), 1));
    }

    @Test
    void anInitiatorThatCannotBeResetIsDestroyedBeforeItsSlicesEnd() throws IOException {
        rig.adapter.hold();
        Window window = new Window("ann");
        Transfer transfer = window.begin();
        CompletionStage<Void> lost = write(transfer, 1);
        awaitPosted(1);
        rig.adapter.fail("ibv_modify_qp to RESET", 5);
        result(transfer.fence());
        assertThat(failure(lost)).isEqualTo(Reason.FENCED);
        assertThat(rig.adapter.initiators()).isZero();
        rig.adapter.release();
        assertThat(window.bytes()).containsOnly(UNTOUCHED);
        result(write(window.begin(), 2));
    }

    @Test
    void aPacketLengthThatThePortCarriesNoMoreIsSaidAndRefused() throws IOException {
        start(DcRig.config().withMtu(4096));
        Window window = new Window("ann");
        result(write(window.begin(), 1));
        rig.adapter.setPort(new PortAttributes(4, 3, 4, 0, 2));
        Awaiting.until("it is seen", () -> !rig.fabric().health().usable());
        assertThat(rig.fabric().health().reason()).isEqualTo("rdma.dc.mtu is 4096, and mlx5_0 port"
                + " 1 carries 1024: packets would be lost without an error");
        assertThatThrownBy(window::begin).isInstanceOf(TransferException.class);
        rig.adapter.setPort(new PortAttributes(4, 5, 4, 0, 2));
        Awaiting.until("it is seen", () -> rig.fabric().health().usable());
        result(write(window.begin(), 2));
    }

    @Test
    void withoutAnMtuOfItsOwnItFollowsThePort() throws IOException {
        start(Pool.DEFAULT.withInitiators(1));
        Window window = new Window("ann");
        result(write(window.begin(), 1));
        rig.adapter.setPort(new PortAttributes(4, 3, 4, 0, 2));
        rig.fake(window.peer).setMtu(1024);
        Awaiting.until("packets have the new length", () -> {
            result(write(window.begin(), 2));
            pages.recycle();
            return window.bytes()[0] == 2;
        });
        assertThat(window.bytes()).containsOnly(2);
        assertThat(rig.adapter.initiators()).isEqualTo(1);
    }

    @Test
    void aPortThatIsDownTurnsRequestsAwayUntilItIsUp() throws IOException {
        Window window = new Window("ann");
        rig.adapter.setPort(new PortAttributes(1, 5, 4, 0, 2));
        Awaiting.until("it is seen", () -> !rig.fabric().health().usable());
        assertThat(rig.fabric().health().reason()).isEqualTo("mlx5_0 port 1 is down");
        assertThatThrownBy(window::begin).isInstanceOf(TransferException.class);
        rig.adapter.setPort(new PortAttributes(4, 5, 4, 0, 2));
        Awaiting.until("it is seen", () -> rig.fabric().health().usable());
        result(write(window.begin(), 1));
    }

    /** Its port may still be said to be up. */
    @Test
    void aDeviceThatReportsItsEndIsUsedNoMore() throws IOException {
        Window window = new Window("ann");
        rig.adapter.raise(new AsyncEvent(AsyncEvent.Type.DEVICE_FATAL, 0));
        Awaiting.until("it is seen", () -> !rig.fabric().health().usable());
        assertThat(rig.fabric().health().reason()).isEqualTo("mlx5_0 was removed or has failed");
        assertThatThrownBy(window::begin).isInstanceOf(TransferException.class);
    }

    @Test
    void openInitiatorsAreCountedByState() throws IOException {
        Window window = new Window("ann");
        assertThat(rig.stats().queuePairs()).containsEntry(QueuePairState.OPEN, 0L);
        result(write(window.begin(), 1));
        assertThat(rig.stats().queuePairs()).containsEntry(QueuePairState.OPEN, 1L);
        assertThat(rig.stats().bytesWritten()).isEqualTo(BYTES);
    }
}
