package io.railhead.rdma.poller;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SendQueueTest {
    private final List<String> heard = new ArrayList<>();

    private Work work(String name) {
        return arrived -> heard.add(name + (arrived ? " arrived" : " failed"));
    }

    private static long post(SendQueue queue, int requests) {
        long last = -1;
        for (int i = 0; i < requests; i++) {
            last = queue.take();
        }
        return last;
    }

    @Test
    void aCompletionRetiresAllEarlierWork() {
        SendQueue queue = new SendQueue(8, 4);
        post(queue, 2);
        queue.add(work("a"));
        long last = post(queue, 1);
        queue.add(work("b"));
        assertThat(queue.room()).isEqualTo(5);
        queue.completed((int) last, true);
        assertThat(heard).containsExactly("a arrived", "b arrived");
        assertThat(queue.isDrained()).isTrue();
        assertThat(queue.room()).isEqualTo(8);
    }

    @Test
    void workEndsWithItsLastRequestAndNotBefore() {
        SendQueue queue = new SendQueue(8, 4);
        long first = post(queue, 1);
        post(queue, 1);
        queue.add(work("a"));
        queue.completed((int) first, true);
        assertThat(heard).isEmpty();
        assertThat(queue.isDrained()).isFalse();
    }

    @Test
    void aFailureTellsThatWhatCameBeforeHasArrived() {
        SendQueue queue = new SendQueue(8, 4);
        post(queue, 1);
        queue.add(work("before"));
        long failed = post(queue, 1);
        queue.add(work("failed"));
        long flushed = post(queue, 1);
        queue.add(work("flushed"));
        queue.completed((int) failed, false);
        assertThat(heard).containsExactly("before arrived", "failed failed");
        queue.completed((int) flushed, false);
        assertThat(heard).last().isEqualTo("flushed failed");
        assertThat(queue.isDrained()).isTrue();
    }

    @Test
    void anAbandonedQueueEndsAllWork() {
        SendQueue queue = new SendQueue(8, 4);
        post(queue, 3);
        queue.add(work("a"));
        queue.abandon();
        assertThat(heard).containsExactly("a failed");
        assertThat(queue.isDrained()).isTrue();
    }

    @Test
    void requestsThatTheAdapterRefusedAreTakenBack() {
        SendQueue queue = new SendQueue(8, 4);
        long kept = post(queue, 1);
        queue.add(work("kept"));
        post(queue, 2);
        queue.add(work("refused"));
        queue.refused(2);
        queue.completed((int) kept, true);
        assertThat(heard).containsExactly("kept arrived", "refused failed");
        assertThat(queue.isDrained()).isTrue();
    }

    @Test
    void whatIsRefusedWholeWithNothingBeforeItEndsAtOnce() {
        SendQueue queue = new SendQueue(8, 4);
        post(queue, 2);
        queue.add(work("a"));
        queue.refused(2);
        assertThat(heard).containsExactly("a failed");
        assertThat(queue.isDrained()).isTrue();
    }

    @Test
    void workOfWhichSomeIsTheAdaptersEndsOnlyWithThat() {
        SendQueue queue = new SendQueue(8, 4);
        post(queue, 3);
        queue.add(work("a"));
        queue.refused(1);
        assertThat(heard).isEmpty();
        queue.completed(0, true);
        assertThat(heard).isEmpty();
        queue.completed(1, false);
        assertThat(heard).containsExactly("a failed");
        assertThat(queue.isDrained()).isTrue();
    }

    @Test
    void workOfWhichSomeIsTheAdaptersFailsThoughThatArrives() {
        SendQueue queue = new SendQueue(8, 4);
        post(queue, 2);
        queue.add(work("a"));
        queue.refused(1);
        queue.completed(0, true);
        assertThat(heard).containsExactly("a failed");
        long last = post(queue, 1);
        queue.add(work("next"));
        queue.completed((int) last, true);
        assertThat(heard).last().isEqualTo("next arrived");
    }

    /** As of a delivery that takes several turns, with messages between them. */
    @Test
    void workThatBeganBeforeAnothersIsTheAdaptersWhatComesOfItsEnd() {
        SendQueue queue = new SendQueue(8, 4);
        post(queue, 2);
        post(queue, 1);
        queue.add(work("message"));
        post(queue, 2);
        queue.add(work("delivery"));
        queue.refused(2);
        assertThat(heard).isEmpty();
        queue.abandon();
        assertThat(heard).containsExactly("message failed", "delivery failed");
    }

    @Test
    void manyWorksInOneRequestAreNoMoreThanItHolds() {
        SendQueue queue = new SendQueue(4, 2);
        post(queue, 1);
        for (int i = 0; i < 4; i++) {
            assertThat(queue.room()).as("before %d", i).isPositive();
            queue.add(work("" + i));
        }
        assertThat(queue.room()).isZero();
        queue.completed(0, true);
        assertThat(heard).containsExactly("0 arrived", "1 arrived", "2 arrived", "3 arrived");
        assertThat(queue.room()).isEqualTo(4);
    }

    @Test
    void everyKthRequestIsSignalled() {
        SendQueue queue = new SendQueue(8, 3);
        List<Boolean> due = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            var _ = queue.take();
            due.add(queue.isSignalDue());
            if (queue.isSignalDue()) {
                queue.signalled();
            }
        }
        assertThat(due).containsExactly(false, false, true, false, false, true, false);
    }

    @Test
    void whatCannotBeIsRefused() {
        SendQueue queue = new SendQueue(2, 1);
        assertThatThrownBy(() -> queue.completed(0, true)).hasMessageContaining("not posted");
        post(queue, 2);
        assertThatThrownBy(queue::take).hasMessageContaining("full");
        assertThatThrownBy(() -> new SendQueue(2, 2)).hasMessageContaining("signalEvery");
    }

    /** Against a list of the works, with completions of a random one that is signalled. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void randomPostingAgreesWithTheModel(long seed) {
        Random random = new Random(seed);
        SendQueue queue = new SendQueue(16, 4);
        Deque<Long> model = new ArrayDeque<>();
        List<Long> ended = new ArrayList<>();
        List<Long> expected = new ArrayList<>();
        long posted = 0;
        for (int i = 0; i < 20_000; i++) {
            int requests = 1 + random.nextInt(4);
            if (random.nextBoolean() && queue.room() >= requests) {
                posted = post(queue, requests) + 1;
                long last = posted - 1;
                queue.add(_ -> ended.add(last));
                model.add(last);
            } else if (!model.isEmpty()) {
                long done = new ArrayList<>(model).get(random.nextInt(model.size()));
                while (!model.isEmpty() && model.peek() <= done) {
                    expected.add(model.remove());
                }
                queue.completed((int) done, true);
            }
            assertThat(ended).as("seed %d", seed).isEqualTo(expected);
            ended.clear();
            expected.clear();
        }
    }
}
