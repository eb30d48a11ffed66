package io.railhead.gateway.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.BackendException;
import io.railhead.cache.FillException;
import io.railhead.gateway.s3.S3Error;
import org.junit.jupiter.api.Test;

final class StoreErrorsTest {

    /** A client that is told SlowDown or ServiceUnavailable would blame the store. */
    @Test
    void anErrorOfTheGatewayIsNotTheStores() {
        BackendException ours = new BackendException(BackendException.Reason.INTERNAL,
                "failed here: Java heap space", new OutOfMemoryError("Java heap space"));
        FillException fill = new FillException(FillException.Reason.BACKEND_FAILED,
                "the backend's body broke off", ours);
        assertThat(StoreErrors.of(fill).error()).isEqualTo(S3Error.INTERNAL_ERROR);
        assertThat(StoreErrors.of((Throwable) ours)).isInstanceOf(OutOfMemoryError.class);
    }
}
