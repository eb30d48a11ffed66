package io.railhead.gateway.frontdoor;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.prometheus.client.Counter;
import io.railhead.gateway.admission.Admission;
import io.railhead.gateway.admission.Limits;
import io.railhead.gateway.admission.TenantInFlight;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.s3.sigv4.Authentication;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FairSchedulerTest {
    private static final long MOMENT = FairScheduler.AWAY_NANOS / 4;

    private final Admission admission = new Admission(new Limits(1, 1, 1), () -> false,
            Counter.build("refused", "refused").labelNames("reason", "tenant").create(),
            Counter.build("limited", "limited").labelNames("tenant", "limit").create(),
            System::nanoTime);
    private final TenantInFlight flood = share("192.0.2.1");
    private final TenantInFlight good = share("192.0.2.2");
    private final Loop loop = new Loop();
    private final FairScheduler fairScheduler = new FairScheduler(loop.tail::add,
            loop.tasks::add, () -> loop.nanos);
    private final List<String> served = new ArrayList<>();

    private TenantInFlight share(String address) {
        return admission.share(new Authentication.Anonymous(),
                RequestSource.anonymous(address, false));
    }

    /** What Netty's loops do: sockets, tasks, what was to be done when both are through. */
    private static final class Loop {
        private final Queue<Runnable> tasks = new ArrayDeque<>();
        private final Queue<Runnable> tail = new ArrayDeque<>();
        private long nanos;

        void pass(Runnable sockets) {
            sockets.run();
            List<Runnable> now = List.copyOf(tasks);
            tasks.clear();
            now.forEach(Runnable::run);
            List<Runnable> after = List.copyOf(tail);
            tail.clear();
            after.forEach(Runnable::run);
        }

        boolean isIdle() {
            return tasks.isEmpty() && tail.isEmpty();
        }
    }

    private void comes(TenantInFlight whose, String name) {
        Runnable request = () -> {
            served.add(name);
            loop.nanos += MOMENT;
        };
        if (fairScheduler.isFree()) {
            request.run();
        } else {
            fairScheduler.await(whose, request);
        }
    }

    private void come(TenantInFlight whose, String name, int count) {
        for (int i = 0; i < count; i++) {
            comes(whose, name + i);
        }
    }

    @Test
    void whoComesWhileTheLoopIsNotBehindIsServedAtOnce() {
        for (int i = 0; i < 100; i++) {
            loop.pass(() -> come(flood, "a", 3));
            assertThat(served).hasSize(3 * (i + 1));
        }
        loop.pass(() -> {});
        assertThat(loop.isIdle()).isTrue();
    }

    @Test
    void aFloodWaitsBehindItselfAndNobodyElseDoes() {
        loop.pass(() -> come(flood, "flood", 20));
        assertThat(served).containsExactly("flood0", "flood1", "flood2", "flood3");
        loop.pass(() -> comes(good, "good"));
        assertThat(served).hasSize(8)
                .startsWith("flood0", "flood1", "flood2", "flood3", "flood4",
                        "good");
    }

    @Test
    void theSocketsAreLookedAtBetweenTheTurns() {
        loop.pass(() -> come(flood, "flood", 20));
        for (int i = 1; i <= 4; i++) {
            loop.pass(() -> {});
            assertThat(served).hasSize(4 + 4 * i);
        }
        assertThat(loop.nanos).isEqualTo(20 * MOMENT);
        loop.pass(() -> {});
        loop.pass(() -> comes(good, "good"));
        assertThat(served).last().isEqualTo("good");
    }

    @Test
    void oneThatTakesLongHasNoOtherAfterIt() {
        loop.pass(() -> {
            come(flood, "flood", 4);
            for (int i = 0; i < 2; i++) {
                fairScheduler.await(good, () -> {
                    served.add("long");
                    loop.nanos += 100 * MOMENT;
                });
            }
        });
        loop.pass(() -> {});
        assertThat(served).hasSize(5).endsWith("long");
        loop.pass(() -> {});
        assertThat(served).hasSize(6).endsWith("long");
    }

    @Test
    void whoComesWhileOthersWaitWaitsToo() {
        loop.pass(() -> come(flood, "flood", 10));
        loop.pass(() -> {
            loop.nanos += 100 * MOMENT;
            comes(flood, "late");
        });
        loop.pass(() -> {});
        assertThat(served).hasSize(11).endsWith("flood9", "late");
    }

    @Test
    void whatIsWrittenInATurnIsFlushedOnceAfterIt() {
        List<String> calls = new ArrayList<>();
        EmbeddedChannel channel = new EmbeddedChannel(flushes(calls),
                fairScheduler.new Gathering());
        loop.pass(() -> come(flood, "flood", 4));
        fairScheduler.await(good, () -> {
            for (int i = 0; i < 3; i++) {
                var _ = channel.writeAndFlush("written");
            }
            calls.add("over");
        });
        loop.pass(() -> {});
        assertThat(calls).isEmpty();
        loop.pass(() -> {});
        assertThat(calls).containsExactly("over", "flush");
        assertThat(channel.outboundMessages()).hasSize(3);
        channel.flush();
        assertThat(calls).hasSize(3);
    }

    @Test
    void whatIsWrittenToOthersInATurnIsFlushedToo() {
        List<String> calls = new ArrayList<>();
        EmbeddedChannel one = new EmbeddedChannel(flushes(calls), fairScheduler.new Gathering());
        EmbeddedChannel other = new EmbeddedChannel(flushes(calls), fairScheduler.new Gathering());
        fairScheduler.await(good, () -> {
            var _ = one.writeAndFlush("written");
            var _ = other.writeAndFlush("written");
        });
        loop.pass(() -> {});
        loop.pass(() -> {});
        assertThat(calls).hasSize(2);
        assertThat(one.outboundMessages()).hasSize(1);
        assertThat(other.outboundMessages()).hasSize(1);
    }

    private static ChannelOutboundHandlerAdapter flushes(List<String> calls) {
        return new ChannelOutboundHandlerAdapter() {
            @Override
            public void flush(ChannelHandlerContext context) {
                calls.add("flush");
                context.flush();
            }
        };
    }

    /** Each one's in their order, and none is lost. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void everyoneIsServedInOrder(long seed) {
        Random random = new Random(seed);
        List<TenantInFlight> sharing = List.of(share("192.0.2.3"), share("192.0.2.4"),
                share("192.0.2.5"));
        int[] come = new int[sharing.size()];
        for (int pass = 0; pass < 200; pass++) {
            int count = random.nextInt(8);
            loop.pass(() -> {
                for (int i = 0; i < count; i++) {
                    int who = random.nextInt(sharing.size());
                    comes(sharing.get(who), who + "-" + come[who]++);
                }
            });
        }
        while (!loop.isIdle()) {
            loop.pass(() -> {});
        }
        Map<String, Integer> next = new HashMap<>();
        for (String each : served) {
            String whose = each.substring(0, 1);
            assertThat(next.merge(whose, 1, Integer::sum) - 1)
                    .isEqualTo(Integer.parseInt(each.substring(2)));
        }
        assertThat(served).hasSize(come[0] + come[1] + come[2]);
    }
}
