package io.railhead.backend.aws;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslClosedEngineException;
import io.railhead.backend.BackendException.Reason;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.CompletionException;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;

class HttpFailuresTest {
    @Test
    void aConnectionThatCannotBeMadeIsUnreachable() {
        assertThat(reason(new ConnectException("refused"))).isEqualTo(Reason.UNREACHABLE);
        assertThat(reason(new SSLHandshakeException("untrusted"))).isEqualTo(Reason.UNREACHABLE);
        assertThat(reason(new NotSslRecordException("HTTP"))).isEqualTo(Reason.UNREACHABLE);
    }

    /** One object's upload may break its connection, and the endpoint must stay in for the rest. */
    @Test
    void aConnectionThatBreaksIsBrokenOverTlsToo() {
        assertThat(reason(new ClosedChannelException())).isEqualTo(Reason.BROKEN);
        assertThat(reason(new SslClosedEngineException("closed"))).isEqualTo(Reason.BROKEN);
    }

    /** A lack of memory here is no evidence against an endpoint, and is not tried again. */
    @Test
    void anErrorOfThisProcessIsItsOwn() {
        assertThat(reason(new OutOfMemoryError("Java heap space"))).isEqualTo(Reason.INTERNAL);
        assertThat(reason(new ConnectException("x").initCause(new NoSuchFieldError("y"))))
                .isEqualTo(Reason.INTERNAL);
    }

    private static Reason reason(Throwable cause) {
        return HttpFailures.translate(new CompletionException(new IOException(cause))).reason();
    }
}
