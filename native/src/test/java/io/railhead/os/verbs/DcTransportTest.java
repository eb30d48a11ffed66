package io.railhead.os.verbs;

import static io.railhead.os.verbs.DcRig.KEY;
import static io.railhead.os.verbs.DcRig.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.ibm.disni.verbs.IbvMr;
import io.railhead.os.PollSet;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Initiators and targets over an adapter in memory: what is moved, refused, fenced and freed. Long
 * by its set-up.
 */
@RequiresRdmaCore
final class DcTransportTest {
    private static final long SEED = 20261122;
    private static final int ENOMEM = 12;
    private static final int EINVAL = 22;

    private final Random random = new Random(SEED);
    private DcRig rig;
    private boolean isAbandoned;

    @BeforeEach
    void start() throws Exception {
        rig = new DcRig(random);
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        if (!isAbandoned) {
            rig.close();
        }
    }

    private void write(DcInitiator initiator, AddressHandle to, long id, int bytes)
            throws IOException {
        initiator.start();
        initiator.write(id, SIGNALED, rig.rkey, rig.remote.address());
        initiator.target(to, rig.peer.number(), KEY);
        initiator.entry(rig.registration.getLkey(), rig.local.address(), bytes);
        assertThat(initiator.complete()).isZero();
    }

    @Test
    void aWriteArrivesWhole() throws Exception {
        try (DcInitiator initiator = rig.connected(); AddressHandle to = rig.handle()) {
            write(initiator, to, 7, DcRig.BYTES);
            assertThat(rig.polled()).containsExactly("7 0");
            assertThat(rig.remote.mismatch(rig.local)).isEqualTo(-1);
            assertThat(rig.adapter.posted()).singleElement().satisfies(posted -> {
                assertThat(posted.initiator()).isEqualTo(initiator.number());
                assertThat(posted.to()).isEqualTo(rig.address());
            });
        }
    }

    @Test
    void aChainOfScatteredReadsArrivesInOrder() throws Exception {
        try (DcInitiator initiator = rig.connected();
                AddressHandle to = rig.handle();
                ScatterList list = new ScatterList(DcRig.ENTRIES)) {
            initiator.start();
            for (int i = 0; i < 2; i++) {
                initiator.read(i, i == 1 ? SIGNALED : 0, rig.rkey, rig.remote.address() + i * 300L);
                initiator.target(to, rig.peer.number(), KEY);
                list.clear();
                for (int j = 0; j < 3; j++) {
                    list.add(rig.registration.getLkey(), rig.local.address() + i * 1000L + j * 200L,
                            100);
                }
                initiator.entries(list);
            }
            assertThat(initiator.complete()).isZero();
            assertThat(rig.polled()).containsExactly("1 0");
            for (int at = 0; at < 600; at += 100) {
                int to1 = at / 300 * 1000 + at % 300 / 100 * 200;
                assertThat(rig.local.asSlice(to1, 100).mismatch(rig.remote.asSlice(at, 100)))
                        .as("at %d", at)
                        .isEqualTo(-1);
            }
        }
    }

    @Test
    void aWrongKeyIsAnAccessErrorAndFlushesTheRest() throws Exception {
        try (DcInitiator initiator = rig.connected(); AddressHandle to = rig.handle()) {
            initiator.start();
            for (int i = 0; i < 3; i++) {
                initiator.write(i, 0, i == 1 ? rig.rkey + 1 : rig.rkey, rig.remote.address() + i);
                initiator.target(to, rig.peer.number(), KEY);
                initiator.entry(rig.registration.getLkey(), rig.local.address(), 1);
            }
            assertThat(initiator.complete()).isZero();
            assertThat(rig.polled()).containsExactly("1 10", "2 5");
            write(initiator, to, 3, 1);
            assertThat(rig.polled()).containsExactly("3 5");

            initiator.reset();
            initiator.connect(DcRig.PATH);
            write(initiator, to, 4, DcRig.BYTES);
            assertThat(rig.polled()).containsExactly("4 0");
            assertThat(rig.remote.mismatch(rig.local)).isEqualTo(-1);
        }
    }

    @Test
    void anUnknownTargetOrKeyIsNeverAnswered() throws Exception {
        AddressVector elsewhere = DcRig.address(rig.adapter.peer(KEY).gid());
        MemorySegment before = rig.arena.allocate(DcRig.BYTES).copyFrom(rig.remote);
        try (AddressHandle to = rig.handle();
                AddressHandle wrong = rig.adapter.createAddressHandle(rig.domain, elsewhere)) {
            refused(to, rig.peer.number() + 1000, KEY);
            refused(to, rig.peer.number(), KEY + 1);
            refused(wrong, rig.peer.number(), KEY);
        }
        assertThat(rig.remote.mismatch(before)).isEqualTo(-1);
    }

    private void refused(AddressHandle to, int number, long key) throws IOException {
        try (DcInitiator initiator = rig.connected()) {
            initiator.start();
            initiator.write(1, 0, rig.rkey, rig.remote.address());
            initiator.target(to, number, key);
            initiator.entry(rig.registration.getLkey(), rig.local.address(), 10);
            assertThat(initiator.complete()).isZero();
            assertThat(rig.polled()).containsExactly("1 " + Completions.RETRY_EXCEEDED);
        }
    }

    @Test
    void aResetIsAFence() throws Exception {
        MemorySegment before = rig.arena.allocate(DcRig.BYTES).copyFrom(rig.remote);
        try (DcInitiator fenced = rig.connected();
                DcInitiator other = rig.connected();
                AddressHandle to = rig.handle()) {
            rig.peer.stall();
            write(fenced, to, 1, DcRig.BYTES);
            write(other, to, 2, 10);
            assertThat(rig.adapter.pending()).isEqualTo(2);
            fenced.reset();
            rig.peer.resume();
            assertThat(rig.polled()).containsExactly("2 0");
            assertThat(rig.remote.asSlice(10).mismatch(before.asSlice(10))).isEqualTo(-1);
        }
    }

    @Test
    void whatCompletedBeforeAResetIsNotReportedAfterIt() throws Exception {
        try (DcInitiator initiator = rig.connected(); AddressHandle to = rig.handle()) {
            write(initiator, to, 1, 10);
            initiator.reset();
            assertThat(rig.polled()).isEmpty();
        }
    }

    @Test
    void onlyAConnectedInitiatorTakesRequests() throws Exception {
        try (DcInitiator initiator = rig.initiator(); AddressHandle to = rig.handle()) {
            assertThat(tryWrite(initiator, to)).isEqualTo(EINVAL);
            initiator.connect(DcRig.PATH);
            assertThat(tryWrite(initiator, to)).isZero();
            initiator.reset();
            assertThat(tryWrite(initiator, to)).isEqualTo(EINVAL);
            assertThat(rig.adapter.posted()).hasSize(1);
        }
    }

    private int tryWrite(DcInitiator initiator, AddressHandle to) {
        initiator.start();
        initiator.write(1, 0, rig.rkey, rig.remote.address());
        initiator.target(to, rig.peer.number(), KEY);
        initiator.entry(rig.registration.getLkey(), rig.local.address(), 1);
        return initiator.complete();
    }

    @Test
    void aChainThatDoesNotFitPostsNothing() throws Exception {
        try (DcInitiator initiator = rig.connected(); AddressHandle to = rig.handle()) {
            initiator.start();
            for (int i = 0; i <= DcRig.REQUESTS; i++) {
                initiator.write(i, 0, rig.rkey, rig.remote.address());
                initiator.target(to, rig.peer.number(), KEY);
                initiator.entry(rig.registration.getLkey(), rig.local.address(), 1);
            }
            assertThat(initiator.complete()).isEqualTo(ENOMEM);
            assertThat(rig.adapter.posted()).isEmpty();
        }
    }

    @Test
    void anAbandonedChainPostsNothing() throws Exception {
        try (DcInitiator initiator = rig.connected(); AddressHandle to = rig.handle()) {
            initiator.start();
            initiator.write(1, SIGNALED, rig.rkey, rig.remote.address());
            initiator.target(to, rig.peer.number(), KEY);
            assertThatThrownBy(() -> initiator.entry(rig.registration.getLkey(),
                    rig.local.address(), DcInitiator.MAX_BYTES + 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("bytes must be 0 to 1073741824: 1073741825");
            initiator.abort();
            assertThat(rig.adapter.posted()).isEmpty();
            write(initiator, to, 2, 10);
            assertThat(rig.polled()).containsExactly("2 0");
        }
    }

    @Test
    void aListBeyondAGigabyteIsRefused() throws Exception {
        try (DcInitiator initiator = rig.connected(); ScatterList list = new ScatterList(2)) {
            list.add(1, 0, DcInitiator.MAX_BYTES).add(1, 0, 1);
            assertThat(list.bytes()).isEqualTo(DcInitiator.MAX_BYTES + 1L);
            assertThatThrownBy(() -> initiator.entries(list))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> list.add(1, 0, 1)).hasMessage("the list is full: 2");
            assertThatThrownBy(() -> list.clear().add(1, 0, -1))
                    .hasMessage("length must be >= 0: -1");
        }
    }

    @Test
    void eachFailedChangeOfStateIsSaidWithItsName() throws Exception {
        for (String state : new String[]{"INIT", "RTR", "RTS", "RESET"}) {
            String call = "ibv_modify_qp to " + state;
            rig.adapter.fail(call, ENOMEM);
            try (DcInitiator initiator = rig.initiator()) {
                assertThatThrownBy(() -> {
                    initiator.connect(DcRig.PATH);
                    initiator.reset();
                }).isInstanceOf(VerbsException.class)
                        .hasMessageStartingWith(call + ": ")
                        .extracting("errno")
                        .isEqualTo(ENOMEM);
                rig.adapter.fail(call, 0);
                initiator.reset();
                initiator.connect(DcRig.PATH);
            }
        }
    }

    @Test
    void whatCannotBeCreatedLeavesNothing() throws Exception {
        for (String call : new String[]{"mlx5dv_create_qp", "ibv_qp_to_qp_ex"}) {
            rig.adapter.fail(call, ENOMEM);
            assertThatThrownBy(rig::initiator).isInstanceOf(VerbsException.class)
                    .hasMessageStartingWith(call + ": ");
            rig.adapter.fail(call, 0);
        }
        rig.adapter.fail("ibv_create_ah", ENOMEM);
        assertThatThrownBy(rig::handle).isInstanceOf(VerbsException.class)
                .hasMessageStartingWith("ibv_create_ah: ");
        for (String call : new String[]{"ibv_create_srq", "mlx5dv_create_qp",
                "ibv_modify_qp to INIT", "ibv_modify_qp to RTR"}) {
            rig.adapter.fail(call, ENOMEM);
            assertThatThrownBy(this::target).isInstanceOf(VerbsException.class)
                    .hasMessageStartingWith(call + ": ");
            rig.adapter.fail(call, 0);
        }
        assertThat(rig.adapter.initiators()).isZero();
    }

    @Test
    void whatCannotBeDestroyedIsSaidAndUsedNoMore() throws Exception {
        DcInitiator initiator = rig.initiator();
        rig.adapter.fail("ibv_destroy_qp", EINVAL);
        assertThatThrownBy(initiator::close).isInstanceOf(VerbsException.class)
                .hasMessageStartingWith("ibv_destroy_qp: ");
        assertThatThrownBy(initiator::close).hasMessage("already destroyed");
        assertThat(rig.adapter.initiators()).isEqualTo(1);
        assertThatThrownBy(rig.domain::deallocPd).isInstanceOf(VerbsException.class);
        rig.abandon();
        isAbandoned = true;
    }

    @Test
    void aTargetWithoutItsReceivesIsSaid() throws Exception {
        DcTarget target = target();
        rig.adapter.fail("ibv_destroy_srq", EINVAL);
        assertThatThrownBy(target::close).isInstanceOf(VerbsException.class)
                .hasMessageStartingWith("ibv_destroy_srq: ");
        rig.abandon();
        isAbandoned = true;
    }

    @Test
    void anAddressHandleThatCannotBeDestroyedIsSaid() throws Exception {
        AddressHandle handle = rig.handle();
        rig.adapter.fail("ibv_destroy_ah", EINVAL);
        assertThatThrownBy(handle::close).isInstanceOf(VerbsException.class)
                .hasMessageStartingWith("ibv_destroy_ah: ");
        rig.abandon();
        isAbandoned = true;
    }

    private DcTarget target() throws IOException {
        return rig.adapter.createTarget(rig.domain, rig.queue, new DcTarget.Attributes(KEY, 1, 1,
                true, 64, 96, 0, 4096, 12));
    }

    @Test
    void anInitiatorReachesATargetOfTheSamePort() throws Exception {
        MemorySegment shared = rig.random(random);
        IbvMr registered = rig.verbs.register(rig.domain, shared.address(), DcRig.BYTES,
                IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_READ);
        try (DcTarget target = target();
                DcInitiator initiator = rig.connected();
                AddressHandle to = rig.adapter.createAddressHandle(rig.domain,
                        DcRig.address(rig.adapter.gid()))) {
            initiator.start();
            initiator.read(1, SIGNALED, registered.getRkey(), shared.address());
            initiator.target(to, target.number(), KEY);
            initiator.entry(rig.registration.getLkey(), rig.local.address(), DcRig.BYTES);
            initiator.write(2, SIGNALED, registered.getRkey(), shared.address());
            initiator.target(to, target.number(), KEY);
            initiator.entry(rig.registration.getLkey(), rig.local.address(), DcRig.BYTES);
            assertThat(initiator.complete()).isZero();
            assertThat(rig.polled()).containsExactly("1 0", "2 10");
            assertThat(shared.mismatch(rig.local)).isEqualTo(-1);
        } finally {
            rig.verbs.deregister(registered);
        }
    }

    @Test
    void anotherMtuThanThePeersMovesNothing() throws Exception {
        MemorySegment before = rig.arena.allocate(DcRig.BYTES).copyFrom(rig.remote);
        rig.peer.setMtu(1024);
        try (DcInitiator initiator = rig.connected(); AddressHandle to = rig.handle()) {
            write(initiator, to, 1, DcRig.BYTES);
            assertThat(rig.polled()).containsExactly("1 0");
            assertThat(rig.remote.mismatch(before)).isEqualTo(-1);
        }
    }

    @Test
    void anArmedQueueWakesItsSleeperOnce() throws Exception {
        try (DcInitiator initiator = rig.connected();
                AddressHandle to = rig.handle();
                PollSet sleeper = new PollSet(rig.channel.getFd())) {
            var _ = rig.queue.reqNotification(false).execute();
            write(initiator, to, 1, 10);
            write(initiator, to, 2, 10);
            assertThat(sleeper.await(10_000)).isEqualTo(1);
            assertThat(rig.channel.getCqEvent(rig.queue, 0)).isTrue();
            assertThat(rig.channel.getCqEvent(rig.queue, 0)).isFalse();
            rig.queue.ackEvents(1);
            assertThat(rig.polled()).containsExactly("1 0", "2 0");
        }
    }

    @Test
    void whatIsDestroyedTakesNothing() throws Exception {
        DcInitiator initiator = rig.connected();
        AddressHandle to = rig.handle();
        to.close();
        initiator.start();
        initiator.write(1, 0, rig.rkey, rig.remote.address());
        assertThatThrownBy(() -> initiator.target(to, 1, KEY)).hasMessage("already destroyed");
        initiator.abort();
        initiator.close();
        assertThatThrownBy(initiator::start).hasMessage("already destroyed");
        assertThatThrownBy(initiator::reset).hasMessage("already destroyed");
        assertThatThrownBy(initiator::close).hasMessage("already destroyed");
        assertThatThrownBy(to::close).hasMessage("already destroyed");
    }

    @Test
    void aTargetsNumberHasTwentyFourBits() throws Exception {
        try (DcInitiator initiator = rig.connected(); AddressHandle to = rig.handle()) {
            assertThatThrownBy(() -> initiator.target(to, 1 << 24, KEY))
                    .hasMessage("number must have 24 bits: 16777216");
        }
    }

    @Test
    void attributesBeyondTheirFieldsAreRefused() {
        assertThatThrownBy(() -> new DcInitiator.Path(1, 1, true, 0, 0, 1500, 16, 6, 5, 16))
                .hasMessage("mtuBytes must be 256, 512, 1024, 2048 or 4096: 1500");
        assertThatThrownBy(() -> new DcInitiator.Path(1, 1, true, 0, 0, 1024, 0, 6, 5, 16))
                .hasMessage("ackTimeout must be 1 to 31: 0");
        assertThatThrownBy(() -> new AddressVector(1, 0, 0, 0, 1 << 16, true, 0, 0, 0, 0))
                .hasMessage("lid must be 0 to 65535: 65536");
        assertThatThrownBy(() -> new DcInitiator.Capacity(0, 1))
                .hasMessage("requests must be > 0: 0");
        assertThatThrownBy(() -> new DcTarget.Attributes(1, 0, 0, true, 1, 0, 0, 1024, 0))
                .hasMessage("port must be 1 to 255: 0");
    }

    @Test
    void onlyAnMlx5DeviceIsSupported() throws Exception {
        assertThat(rig.adapter.supports(rig.context)).isTrue();
        try (FakeAdapter another = new FakeAdapter()) {
            assertThat(rig.adapter.supports(another.queue.getContext())).isFalse();
        }
    }
}
