package io.railhead.backend.aws;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.Target;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** When the failures of objects speak against the endpoint that they were asked for at. */
class FailureEvidenceTest {
    private final FailureEvidence failureEvidence = new FailureEvidence(3);

    @Test
    void oneObjectIsNoEvidenceHoweverOftenItFails() {
        for (int i = 0; i < 1_000; i++) {
            failureEvidence.failed(object("bad"), i);
        }
        assertThat(failureEvidence.isEnough()).isFalse();
    }

    @Test
    void manyReadingsOfOneObjectAreOneObject() {
        for (int i = 0; i < 10; i++) {
            failureEvidence.failed(new Target("bucket", "bad", "partNumber=" + i), i);
        }
        assertThat(failureEvidence.isEnough()).isFalse();
    }

    @Test
    void mostOfSeveralObjectsAre() {
        failureEvidence.failed(object("a"), 0);
        failureEvidence.failed(object("b"), 1);
        assertThat(failureEvidence.isEnough()).isFalse();
        failureEvidence.failed(object("c"), 2);
        assertThat(failureEvidence.isEnough()).isTrue();
    }

    @Test
    void asManyThatAnsweredOutweighThem() {
        failureEvidence.failed(object("a"), 0);
        for (int i = 0; i < 3; i++) {
            failureEvidence.answered(object("good " + i), i);
        }
        failureEvidence.failed(object("b"), 4);
        failureEvidence.failed(object("c"), 5);
        assertThat(failureEvidence.isEnough()).isFalse();
        failureEvidence.failed(object("d"), 6);
        assertThat(failureEvidence.isEnough()).isTrue();
    }

    @Test
    void anObjectThatAnswersAgainIsNoEvidence() {
        failureEvidence.failed(object("a"), 0);
        failureEvidence.failed(object("b"), 1);
        failureEvidence.answered(object("a"), 2);
        failureEvidence.failed(object("c"), 3);
        assertThat(failureEvidence.isEnough()).isFalse();
    }

    @Test
    void nothingIsKeptWhileNothingFails() {
        failureEvidence.answered(object("a"), 0);
        assertThat(failureEvidence.isEmpty()).isTrue();
        failureEvidence.failed(object("a"), 1);
        failureEvidence.answered(object("a"), 2);
        assertThat(failureEvidence.isEmpty()).isTrue();
    }

    @Test
    void failuresOfLongAgoDoNotAddUp() {
        for (int i = 0; i < 10; i++) {
            failureEvidence.failed(object("k" + i), Duration.ofMinutes(2L * i).toNanos());
        }
        assertThat(failureEvidence.isEnough()).isFalse();
    }

    private static Target object(String key) {
        return new Target("bucket", key, null);
    }
}
