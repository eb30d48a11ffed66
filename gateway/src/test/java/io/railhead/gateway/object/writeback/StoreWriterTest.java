package io.railhead.gateway.object.writeback;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.BackendException;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.Caller;
import io.railhead.backend.FixedBody;
import io.railhead.backend.Headers;
import io.railhead.gateway.channel.NoBackend;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** One try to write to a store that never reads the body. */
class StoreWriterTest {
    private final LogOfTest file = new LogOfTest();
    private final WriteThrottle throttle = new WriteThrottle(0, () -> 0, System::nanoTime,
            (step, _) -> step.run(), new LongAdder());
    private PendingWrite pending;

    @BeforeEach
    void open() throws Exception {
        pending = file.put("key", new byte[10_000]);
    }

    @AfterEach
    void close() {
        file.close();
    }

    private StoreWriter.Outcome.Failed failure(CompletionStage<BackendResponse> answer)
            throws Exception {
        return failure(answer, throttle);
    }

    private StoreWriter.Outcome.Failed failure(CompletionStage<BackendResponse> answer,
            WriteThrottle pace) throws Exception {
        StoreWriter writer = new StoreWriter(file.log, _ -> new NoBackend() {
            @Override
            public CompletionStage<BackendResponse> send(BackendRequest request) {
                return answer;
            }
        }, _ -> new Caller.Anonymous(), _ -> pace);
        return (StoreWriter.Outcome.Failed) LogOfTest.await(writer.write(pending));
    }

    private static CompletionStage<BackendResponse> failed(BackendException.Reason reason) {
        return CompletableFuture.failedStage(new BackendException(reason, "of the test", null));
    }

    @Test
    void theRoomOfABodyThatNobodyReadIsFreedWithItsEntry() throws Exception {
        failure(failed(BackendException.Reason.UNREACHABLE));
        failure(failed(BackendException.Reason.RATE_LIMITED));
        LogOfTest.await(file.log.commit(List.of(), pending.entries()));
        assertThat(file.log.stats().freeBytes()).isEqualTo(file.log.stats().capacityBytes());
    }

    @Test
    void aTryThatSentNothingTakesNothingOfTheRate() throws Exception {
        // On a clock that stands still, no pause would ever end.
        WriteThrottle slow = new WriteThrottle(1000, () -> 0, () -> 0, (_, _) -> {},
                new LongAdder());
        failure(failed(BackendException.Reason.UNREACHABLE), slow);
        failure(failed(BackendException.Reason.BROKEN), slow);
    }

    @ParameterizedTest
    @EnumSource(BackendException.Reason.class)
    void aRequestThatCannotBeSentIsAProblemAndOneWithoutAnAnswerIsUnknown(
            BackendException.Reason reason) throws Exception {
        StoreWriter.Outcome.Failed failed = failure(failed(reason));
        boolean isInternal = List.of(BackendException.Reason.UNSENT,
                BackendException.Reason.INTERNAL, BackendException.Reason.OVERSIZED)
                .contains(reason);
        boolean isUnsent = List.of(BackendException.Reason.UNREACHABLE,
                BackendException.Reason.BUSY, BackendException.Reason.RATE_LIMITED,
                BackendException.Reason.UNSENT).contains(reason);
        assertThat(!failed.problem().isEmpty()).isEqualTo(isInternal);
        assertThat(failed.isUnknown()).isEqualTo(!isUnsent);
    }

    @ParameterizedTest
    @CsvSource({"403,false,false", "404,false,false", "409,true,false", "408,true,true",
            "429,true,false", "500,true,true", "501,false,false", "504,true,true",
            "507,false,true"})
    void aStatusSaysWhetherToGoOnAndWhetherTheWriteMayStillBe(int status, boolean passes,
            boolean isUnknown) throws Exception {
        StoreWriter.Outcome.Failed failed = failure(CompletableFuture.completedStage(
                new BackendResponse(status, Headers.NONE, FixedBody.EMPTY)));
        assertThat(failed.problem().isEmpty()).isEqualTo(passes);
        assertThat(failed.isUnknown()).isEqualTo(isUnknown);
    }
}
