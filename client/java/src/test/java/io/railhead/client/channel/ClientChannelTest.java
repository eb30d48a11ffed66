package io.railhead.client.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.client.Awaiting;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.EndedMessage;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.message.EndReason;
import io.railhead.protocol.message.Message;
import io.railhead.protocol.message.MessageCodec;
import io.railhead.protocol.message.MessageHeader;
import io.railhead.protocol.message.SessionLimits;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ClientChannelTest {
    private static final int PING = 11;
    private static final int BYE = 13;
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(30);

    private final FakeTransport gateway = new FakeTransport();
    private ClientChannel channel = new ClientChannel(gateway, new SessionLimits(8, 4, 60_000),
            "peer")
            .start();

    @AfterEach
    void stop() {
        channel.close();
        assertThat(gateway.isClosed()).isTrue();
    }

    private static Request head(int id) {
        return Request.head(id, "b", "k");
    }

    @Test
    void anAnswerThatNobodyAskedForEndsTheChannelAfterThoseThatWere() {
        CompletionStage<Answer> good = channel.send(head(1));
        CompletionStage<Answer> lost = channel.send(head(2));
        gateway.answer(Answer.declined(1, "a"), Answer.declined(7, "b"), Answer.declined(2, "c"));
        assertThat(good.toCompletableFuture().join().code()).isEqualTo("a");
        awaitGivingUp();
        gateway.shutDown();
        assertThatThrownBy(() -> lost.toCompletableFuture().join())
                .hasCauseInstanceOf(ChannelEndedException.class);
        Awaiting.until("it is over", () -> !channel.isOpen());
    }

    @Test
    void anAnswerToWhatWasNeverSentEndsTheChannel() {
        for (int id = 0; id < 4; id++) {
            var _ = channel.send(head(id));
        }
        CompletionStage<Answer> waiting = channel.send(Request.put(5, "b", "k", 1, 0, 1, Map.of()));
        gateway.answer(Answer.declined(5, "x"));
        awaitGivingUp();
        gateway.shutDown();
        Throwable failure = waiting.handle((_, e) -> e).toCompletableFuture().join();
        assertThat(failure).isInstanceOf(ChannelEndedException.class);
        assertThat(((ChannelEndedException) failure).isOutcomeUnknown()).isFalse();
    }

    @Test
    void aWriteWhoseSendingFailedIsUnknown() {
        gateway.fail();
        CompletionStage<Answer> put = channel.send(Request.put(5, "b", "k", 1, 0, 1, Map.of()));
        Throwable failure = put.handle((_, e) -> e).toCompletableFuture().join();
        assertThat(((ChannelEndedException) failure).isOutcomeUnknown()).isTrue();
        assertThatThrownBy(() -> channel.call(head(1))).isInstanceOf(ChannelEndedException.class);
    }

    @Test
    void theEndSaysWhyAndAnswersWhatItLists() {
        CompletionStage<Answer> get = channel.send(head(1));
        CompletionStage<Answer> put = channel.send(Request.put(2, "b", "k", 1, 0, 1, Map.of()));
        new EndedMessage(EndReason.ACCESS, List.of(Answer.declined(1, "access"))).encode()
                .forEach(gateway::say);
        assertThat(get.toCompletableFuture().join().code()).isEqualTo("access");
        gateway.shutDown();
        Throwable failure = put.handle((_, e) -> e).toCompletableFuture().join();
        assertThat(((ChannelEndedException) failure).reason()).isEqualTo(EndReason.ACCESS);
        assertThat(((ChannelEndedException) failure).isOutcomeUnknown()).isTrue();
    }

    @Test
    void ofABatchThatIsRefusedNothingIsSent() {
        assertThatThrownBy(() -> channel.send(List.of(head(1), head(1))))
                .hasMessageContaining("outstanding: 1");
        assertThatThrownBy(() -> channel.send(List.of(head(1),
                Request.head(2, "b", "k".repeat(MessageHeader.MAX_MESSAGE_BYTES)))))
                .hasMessageContaining("fit");
        CompletionStage<Answer> other = channel.send(head(3));
        CompletionStage<Answer> again = channel.send(head(1));
        gateway.answer(Answer.declined(1, "a"), Answer.declined(3, "b"));
        assertThat(again.toCompletableFuture().join().code()).isEqualTo("a");
        assertThat(other.toCompletableFuture().join().code()).isEqualTo("b");
    }

    @Test
    void aChannelThatHasNothingToSaySaysSo() {
        channel.close();
        FakeTransport other = new FakeTransport();
        try (ClientChannel idle = new ClientChannel(other, new SessionLimits(8, 4, 30), "idle")
                .start()) {
            for (int i = 1; i < 4; i++) {
                int pings = i;
                Awaiting.until("it pings", () -> other.sent(PING) == pings);
                other.say(MessageCodec.encode(new Message.Pong(0)));
            }
            assertThat(idle.isOpen()).isTrue();
        }
        assertThat(other.isClosed()).isTrue();
    }

    @Test
    void whatIsHeldBackGoesOnceItMay() throws Exception {
        CompletableFuture<Message> asked = CompletableFuture.supplyAsync(() -> {
            try {
                return channel.askAndHold(new Message.Register(0, 1, 0), PATIENCE);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        Awaiting.until("it asks", () -> gateway.sent(6) == 1);
        CompletionStage<Answer> stage = channel.send(head(1));
        gateway.say(MessageCodec.encode(new Message.SendDescriptor()));
        assertThat(asked.join()).isEqualTo(new Message.SendDescriptor());
        assertThat(gateway.sent(MessageHeader.REQUESTS)).isZero();
        Message answer = channel.resume(() -> {
            assertThat(gateway.sent(MessageHeader.REQUESTS)).isZero();
            gateway.say(MessageCodec.encode(new Message.Registered(9)));
        }, PATIENCE);
        assertThat(answer).isEqualTo(new Message.Registered(9));
        assertThat(gateway.sent(MessageHeader.REQUESTS)).isEqualTo(1);
        gateway.answer(Answer.declined(1, "done"));
        assertThat(stage.toCompletableFuture().join().code()).isEqualTo("done");
    }

    private void awaitGivingUp() {
        Awaiting.until("it says BYE", () -> gateway.sent(BYE) == 1);
        assertThat(channel.isOpen()).isFalse();
    }

    /** What comes before the gateway's end, its copies may still follow. */
    @Test
    void whoGivesUpReadsToTheGatewaysEndBeforeMemoryIsGivenBack() {
        CompletableFuture<Answer> get = channel.send(head(1)).toCompletableFuture();
        assertThatThrownBy(() -> channel.ask(new Message.Ping(5), 20_000_000))
                .hasMessageContaining("in time");
        awaitGivingUp();
        gateway.say(MessageCodec.encode(new Message.Pong(6)));
        gateway.answer(Answer.declined(1, "late"));
        Awaiting.until("all is read", gateway::isRead);
        assertThat(get).isNotDone();
        assertThat(channel.hasLetGo()).isFalse();

        gateway.shutDown();
        assertThatThrownBy(get::join).hasCauseInstanceOf(ChannelEndedException.class);
        assertThat(channel.hasLetGo()).isTrue();
    }

    @Test
    void aQuestionThatHoldsAllElseBackDoesNotHoldTheByeBack() {
        assertThatThrownBy(() -> channel.askAndHold(new Message.Register(0, 1, 0), 20_000_000))
                .hasMessageContaining("in time");
        awaitGivingUp();
    }

    @Test
    void whoDoesNotHearTheGatewaysEndKnowsNothingOfItsCopies() {
        CompletableFuture<Answer> get = channel.send(head(1)).toCompletableFuture();
        channel.leave(20_000_000);
        assertThatThrownBy(get::join).hasCauseInstanceOf(ChannelEndedException.class);
        assertThat(channel.hasLetGo()).isFalse();
    }

    @Test
    void anInterruptionDoesNotEndTheWaitForTheGatewaysEnd() throws InterruptedException {
        AtomicBoolean stillInterrupted = new AtomicBoolean();
        Thread leaving = Thread.ofPlatform().start(() -> {
            Thread.currentThread().interrupt();
            channel.leave(PATIENCE);
            stillInterrupted.set(Thread.interrupted());
        });
        Awaiting.until("it says BYE", () -> gateway.sent(BYE) == 1);
        gateway.shutDown();
        leaving.join();
        assertThat(channel.hasLetGo()).isTrue();
        assertThat(stillInterrupted).isTrue();
    }

    @Test
    @Timeout(10)
    void aQuestionWithoutAnAnswerEndsTheChannelInItsTime() {
        assertThatThrownBy(() -> channel.ask(new Message.Ping(5), 20_000_000))
                .hasMessageContaining("in time");
        Awaiting.until("it is over", () -> !channel.isOpen());
    }
}
