package io.railhead.gateway.trust;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.ConnectException;
import java.net.http.HttpTimeoutException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class ModelClientTest {
    @Test
    void aClientThatGivesUpWaitingHasNotMerelyFailed() {
        assertThat(ModelClient.unanswered(new HttpTimeoutException("request timed out")))
                .isInstanceOf(Observation.Wrong.class);
        assertThat(ModelClient.unanswered(new TimeoutException()))
                .isInstanceOf(Observation.Wrong.class);
        assertThat(ModelClient.unanswered(new ConnectException()))
                .isInstanceOf(Observation.Failed.class);
    }
}
