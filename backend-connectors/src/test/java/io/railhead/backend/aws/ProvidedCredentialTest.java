package io.railhead.backend.aws;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.backend.BackendException;
import io.railhead.backend.Caller;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;

class ProvidedCredentialTest {
    private final AtomicInteger asked = new AtomicInteger();
    private final AtomicLong nanos = new AtomicLong();
    private volatile Supplier<AwsCredentials> answer = () -> AwsBasicCredentials.create("AK", "SK");

    private final ProvidedCredential provided = new ProvidedCredential("a test", () -> {
        asked.incrementAndGet();
        return answer.get();
    }, nanos::get);

    private Caller.Credential now() {
        return provided.now().toCompletableFuture().join();
    }

    @Test
    void whatWasGivenIsUsedAgain() {
        assertThat(now()).isEqualTo(new Caller.Credential("AK", "SK", null));
        assertThat(now().accessKey()).isEqualTo("AK");
        assertThat(asked).hasValue(1);
    }

    @Test
    void aSlowProviderHoldsNobodyUpWhoHasACredential() {
        now();
        CountDownLatch release = new CountDownLatch(1);
        answer = () -> {
            try {
                release.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return AwsSessionCredentials.create("NEXT", "SK2", "token");
        };
        nanos.addAndGet(Duration.ofSeconds(6).toNanos());
        assertThat(now().accessKey()).isEqualTo("AK");
        assertThat(now().accessKey()).isEqualTo("AK");
        assertThat(asked).hasValueLessThanOrEqualTo(2);
        release.countDown();
        Instant deadline = Instant.now().plusSeconds(20);
        while (!now().accessKey().equals("NEXT") && Instant.now().isBefore(deadline)) {
            Thread.onSpinWait();
        }
        assertThat(now()).isEqualTo(new Caller.Credential("NEXT", "SK2", "token"));
    }

    @Test
    void anExpiredOneIsNotUsed() {
        answer = () -> AwsSessionCredentials.builder()
                .accessKeyId("OLD")
                .secretAccessKey("SK")
                .sessionToken("token")
                .expirationTime(Instant.now().minusSeconds(1))
                .build();
        now();
        answer = () -> AwsBasicCredentials.create("NEW", "SK");
        assertThat(now().accessKey()).isEqualTo("NEW");
    }

    @Test
    void whereNothingGivesOneRequestsFailAndOneAsksAgainAfterAWhile() {
        answer = () -> {
            throw new IllegalStateException("nothing in the chain");
        };
        CompletableFuture<Caller.Credential> failed = provided.now().toCompletableFuture();
        assertThatThrownBy(failed::join).hasCauseInstanceOf(BackendException.class);
        assertThatThrownBy(this::now).hasCauseInstanceOf(BackendException.class);
        assertThat(asked).hasValue(1);
        nanos.addAndGet(Duration.ofSeconds(6).toNanos());
        answer = () -> AwsBasicCredentials.create("AK", "SK");
        assertThat(now().accessKey()).isEqualTo("AK");
    }
}
