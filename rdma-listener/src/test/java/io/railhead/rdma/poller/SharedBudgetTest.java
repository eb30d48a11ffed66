package io.railhead.rdma.poller;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
final class SharedBudgetTest {
    private static final int POLLERS = 4;
    private static final int HANDOVERS = 2_000;
    private static final long PORT = 100;
    private static final long PRINCIPAL = 70;

    private final List<Integer> woken = new ArrayList<>();

    @Test
    void whoFoundNoRoomIsWokenOnceThereIsSome() {
        SharedBudget port = new SharedBudget(100, null, woken::add);
        SharedBudget ann = new SharedBudget(100, port, woken::add);
        SharedBudget bob = new SharedBudget(100, port, woken::add);
        assertThat(ann.tryTake(70, 0)).isTrue();
        assertThat(bob.tryTake(70, 5)).isFalse();
        assertThat(bob.tryTake(31, 63)).isFalse();
        assertThat(bob.taken()).isZero();
        ann.giveBack(70);
        assertThat(woken).containsExactly(5, 63);
        assertThat(bob.tryTake(70, 5)).isTrue();
        bob.giveBack(70);
        assertThat(woken).hasSize(2);
    }

    @Test
    void whatIsLargerThanTheLimitGoesAlone() {
        SharedBudget budget = new SharedBudget(100, null, woken::add);
        assertThat(budget.tryTake(1000, 0)).isTrue();
        assertThat(budget.tryTake(1, 0)).isFalse();
        budget.giveBack(1000);
        assertThat(budget.tryTake(1, 0)).isTrue();
        assertThatThrownBy(() -> budget.giveBack(2)).hasMessageContaining("than taken");
    }

    @Test
    void allLinksOfAPrincipalShareOneBudgetWhileThereAreAny() {
        PortBudgets budgets = new PortBudgets(PRINCIPAL, PORT, woken::add);
        SharedBudget ann = budgets.enter("ann");
        assertThat(budgets.enter("ann")).isSameAs(ann);
        assertThat(budgets.enter("bob")).isNotSameAs(ann);
        budgets.exit("ann");
        assertThat(budgets.enter("ann")).isSameAs(ann);
        budgets.exit("ann");
        budgets.exit("ann");
        assertThat(budgets.enter("ann")).isNotSameAs(ann);
    }

    /** Against the sums of what each poller of each principal has taken. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void randomTakingAgreesWithTheModel(long seed) {
        Random random = new Random(seed);
        SharedBudget port = new SharedBudget(PORT, null, woken::add);
        List<SharedBudget> principals = List.of(new SharedBudget(PRINCIPAL, port, woken::add),
                new SharedBudget(PRINCIPAL, port, woken::add));
        List<Deque<Long>> taken = List.of(new ArrayDeque<>(), new ArrayDeque<>());
        for (int i = 0; i < 20_000; i++) {
            int who = random.nextInt(2);
            Deque<Long> own = taken.get(who);
            if (random.nextBoolean() && !own.isEmpty()) {
                principals.get(who).giveBack(own.remove());
            } else {
                long bytes = 1L + random.nextInt(40);
                boolean room = sum(own) + bytes <= PRINCIPAL
                        && sum(taken.get(0)) + sum(taken.get(1)) + bytes <= PORT;
                assertThat(principals.get(who).tryTake(bytes, who)).as("seed %d", seed)
                        .isEqualTo(room);
                if (room) {
                    own.add(bytes);
                }
            }
            assertThat(port.taken()).as("seed %d", seed)
                    .isEqualTo(sum(taken.get(0)) + sum(taken.get(1)));
        }
    }

    private static long sum(Deque<Long> taken) {
        return taken.stream().mapToLong(Long::longValue).sum();
    }

    /**
     * Pollers that sleep when there is no room and they have nothing to give back: none sleeps for
     * ever, and the limits hold at every moment.
     */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void pollersShareTheLimitsAndNoneIsForgotten(long seed) throws Exception {
        Shared shared = new Shared();
        List<Callable<Integer>> pollers = new ArrayList<>();
        for (int i = 0; i < POLLERS; i++) {
            int poller = i;
            pollers.add(() -> shared.work(poller, new Random(seed * POLLERS + poller)));
        }
        try (ExecutorService threads = Executors.newFixedThreadPool(POLLERS)) {
            for (Future<Integer> done : threads.invokeAll(pollers)) {
                assertThat(done.get()).as("seed %d", seed).isEqualTo(Shared.ROUNDS);
            }
        }
        assertThat(shared.port.taken()).as("seed %d", seed).isZero();
    }

    /** One gives back while the other finds no room: nobody else would wake it. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void noWakeIsLostBetweenLookingAndSleeping(long seed) throws Exception {
        Semaphore awake = new Semaphore(0);
        SharedBudget budget = new SharedBudget(PORT, null, _ -> awake.release());
        AtomicInteger taken = new AtomicInteger();
        AtomicInteger done = new AtomicInteger();
        Callable<Integer> holder = () -> {
            Random random = new Random(seed);
            for (int round = 1; round <= HANDOVERS && done.get() >= 0; round++) {
                assertThat(budget.tryTake(PORT, 0)).isTrue();
                taken.set(round);
                for (int left = random.nextInt(100); left > 0; left--) {
                    Thread.onSpinWait();
                }
                budget.giveBack(PORT);
                while (done.get() >= 0 && done.get() < round) {
                    LockSupport.parkNanos(1_000);
                }
            }
            return done.get();
        };
        Callable<Integer> sleeper = () -> {
            for (int round = 1; round <= HANDOVERS; round++) {
                while (taken.get() < round) {
                    LockSupport.parkNanos(1_000);
                }
                while (!budget.tryTake(PORT, 1)) {
                    if (!awake.tryAcquire(20, TimeUnit.SECONDS)) {
                        done.set(-round);
                        return -round;
                    }
                }
                budget.giveBack(PORT);
                done.set(round);
            }
            return HANDOVERS;
        };
        try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
            for (Future<Integer> ended : threads.invokeAll(List.of(holder, sleeper))) {
                assertThat(ended.get()).as("seed %d", seed).isEqualTo(HANDOVERS);
            }
        }
    }

    private static final class Shared {
        static final int ROUNDS = 50_000;
        final Semaphore[] awake = new Semaphore[POLLERS];
        final SharedBudget port = new SharedBudget(PORT, null, this::wake);
        final SharedBudget[] principals = {new SharedBudget(PRINCIPAL, port, this::wake),
                new SharedBudget(PRINCIPAL, port, this::wake)};
        final AtomicLong[] principalModels = {new AtomicLong(), new AtomicLong()};
        final AtomicLong portModel = new AtomicLong();

        Shared() {
            for (int i = 0; i < POLLERS; i++) {
                awake[i] = new Semaphore(0);
            }
        }

        void wake(int poller) {
            awake[poller].release();
        }

        /** Two pollers are each principal's; how many rounds were done. */
        int work(int poller, Random random) throws InterruptedException {
            int who = poller % 2;
            Deque<Long> own = new ArrayDeque<>();
            for (int round = 0; round < ROUNDS; round++) {
                long bytes = 1L + random.nextInt(60);
                while (!principals[who].tryTake(bytes, poller)) {
                    if (!own.isEmpty()) {
                        giveBack(who, own.remove());
                    } else if (!awake[poller].tryAcquire(20, TimeUnit.SECONDS)) {
                        return round;
                    }
                }
                own.add(bytes);
                assertThat(principalModels[who].addAndGet(bytes)).isLessThanOrEqualTo(PRINCIPAL);
                assertThat(portModel.addAndGet(bytes)).isLessThanOrEqualTo(PORT);
                if (random.nextInt(3) == 0) {
                    giveBack(who, own.remove());
                }
            }
            while (!own.isEmpty()) {
                giveBack(who, own.remove());
            }
            return ROUNDS;
        }

        private void giveBack(int who, long bytes) {
            portModel.addAndGet(-bytes);
            principalModels[who].addAndGet(-bytes);
            principals[who].giveBack(bytes);
        }
    }
}
