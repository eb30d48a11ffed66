package io.railhead.os.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.ibm.disni.verbs.IbvSendWR;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Work requests and completions as an adapter finds them in memory. */
@RequiresRdmaCore
final class PreparedWorkTest {
    private static final long SEED = 20261121;

    @Test
    void aChainIsPostedAsItWasFilledTimeAndAgain() throws Exception {
        Random random = new Random(SEED);
        try (FakeAdapter adapter = new FakeAdapter();
                PreparedSends sends = new PreparedSends(64, 16)) {
            for (int round = 0; round < 200; round++) {
                List<FakeAdapter.Posted> model = new ArrayList<>();
                sends.clear();
                int requests = random.nextInt(1, 65);
                for (int i = 0; i < requests; i++) {
                    model.add(add(sends, random));
                }
                adapter.posted.clear();
                assertThat(sends.post(adapter.queuePair)).isEqualTo(requests);
                assertThat(adapter.posted).as("seed " + SEED + " round " + round)
                        .isEqualTo(model);
            }
        }
    }

    private static FakeAdapter.Posted add(PreparedSends sends, Random random) {
        FakeAdapter.Posted model = new FakeAdapter.Posted(random.nextLong(), random.nextInt(5),
                random.nextInt(16), random.nextLong(), random.nextInt(), random.nextInt(),
                entries(random));
        sends.add(model.id(), model.opcode(), model.flags())
                .remote(model.remote(), model.rkey())
                .immediate(model.immediate());
        for (FakeAdapter.Entry entry : model.entries()) {
            sends.entry(entry.address(), entry.bytes(), entry.lkey());
        }
        return model;
    }

    private static List<FakeAdapter.Entry> entries(Random random) {
        List<FakeAdapter.Entry> entries = new ArrayList<>();
        for (int i = random.nextInt(17); i > 0; i--) {
            entries.add(new FakeAdapter.Entry(random.nextLong(), random.nextInt(),
                    random.nextInt()));
        }
        return entries;
    }

    @Test
    void aRefusedRequestIsCountedFrom() throws Exception {
        try (FakeAdapter adapter = new FakeAdapter();
                PreparedSends sends = new PreparedSends(4, 1)) {
            for (int i = 0; i < 4; i++) {
                sends.add(i, IbvSendWR.IBV_WR_SEND, 0);
            }
            adapter.room = 3;
            assertThat(sends.post(adapter.queuePair)).isEqualTo(3);
            assertThat(sends.refusal()).isEqualTo(12);
        }
    }

    @Test
    void aFullChainAndAFullListRefuseMore() {
        try (PreparedSends sends = new PreparedSends(1, 1);
                PreparedReceives receives = new PreparedReceives(1, 1)) {
            assertThatThrownBy(() -> sends.entry(1, 1, 1)).isInstanceOf(
                    IllegalStateException.class);
            sends.add(1, 0, 0).entry(1, 1, 1);
            assertThatThrownBy(() -> sends.entry(1, 1, 1)).isInstanceOf(
                    IllegalStateException.class);
            assertThatThrownBy(() -> sends.add(1, 0, 0)).isInstanceOf(
                    IllegalStateException.class);
            receives.add(1).entry(1, 1, 1);
            assertThatThrownBy(() -> receives.entry(1, 1, 1)).isInstanceOf(
                    IllegalStateException.class);
            assertThatThrownBy(() -> receives.add(1)).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void receivesArePostedWithTheirMemory() throws Exception {
        try (FakeAdapter adapter = new FakeAdapter();
                PreparedReceives receives = new PreparedReceives(3, 2)) {
            receives.add(1).entry(10, 11, 12).entry(20, 21, 22);
            receives.add(2);
            receives.add(3).entry(30, 31, 32);
            assertThat(receives.post(adapter.queuePair)).isEqualTo(3);
            assertThat(adapter.posted).extracting(FakeAdapter.Posted::entries)
                    .containsExactly(
                            List.of(new FakeAdapter.Entry(10, 11, 12),
                                    new FakeAdapter.Entry(20, 21, 22)),
                            List.of(), List.of(new FakeAdapter.Entry(30, 31, 32)));
        }
    }

    @Test
    void completionsAreReadByTheirPlace() throws Exception {
        try (FakeAdapter adapter = new FakeAdapter();
                Completions completions = new Completions(2)) {
            adapter.completions = 3;
            assertThat(completions.poll(adapter.queue)).isEqualTo(2);
            assertThat(completions.workRequestId(1)).isEqualTo(101);
            assertThat(completions.status(1)).isEqualTo(1);
            assertThat(completions.opcode(1)).isEqualTo(Completions.RECEIVE);
            assertThat(completions.bytes(1)).isEqualTo(1001);
            assertThat(completions.hasImmediate(1)).isTrue();
            assertThat(completions.immediate(1)).isEqualTo(8);
            assertThat(completions.queuePairNumber(1)).isEqualTo(17);
            assertThat(completions.poll(adapter.queue)).isEqualTo(1);
            assertThatThrownBy(() -> completions.status(1))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            adapter.completions = -1;
            assertThatThrownBy(() -> completions.poll(adapter.queue))
                    .isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void aDestroyedQueuePairTakesNothing() throws Exception {
        try (FakeAdapter adapter = new FakeAdapter();
                PreparedSends sends = new PreparedSends(1, 1)) {
            adapter.queuePair.close();
            sends.add(1, 0, 0);
            assertThatThrownBy(() -> sends.post(adapter.queuePair))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("already destroyed");
            assertThat(adapter.posted).isEmpty();
        }
    }

    @Test
    void postingAndPollingAllocateNothing() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (FakeAdapter adapter = FakeAdapter.ofNothing();
                PreparedSends sends = new PreparedSends(4, 16);
                PreparedReceives receives = new PreparedReceives(1, 1);
                Completions completions = new Completions(32)) {
            Foreign.QueuePair queuePair = adapter.anotherQueuePair();
            Foreign.CompletionQueue queue = adapter.anotherQueue();
            work(sends, receives, completions, queuePair, queue, 20_000);
            long before = threads.getCurrentThreadAllocatedBytes();
            work(sends, receives, completions, queuePair, queue, 20_000);
            assertThat(threads.getCurrentThreadAllocatedBytes() - before)
                    .as("bytes in 20000 rounds")
                    .isLessThan(20_000);
        }
    }

    private static void work(PreparedSends sends, PreparedReceives receives,
            Completions completions, Foreign.QueuePair queuePair, Foreign.CompletionQueue queue,
            int rounds) {
        for (int i = 0; i < rounds; i++) {
            sends.clear();
            for (int j = 0; j < 4; j++) {
                sends.add(i, j, 0).remote(i, j).immediate(j).entry(i, j, j).entry(j, i, i);
            }
            receives.clear().add(i).entry(i, i, i);
            if (sends.post(queuePair) != 4 || receives.post(queuePair) != 1
                    || completions.poll(queue) != 0) {
                throw new AssertionError("round " + i);
            }
        }
    }
}
