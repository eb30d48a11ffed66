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

    private static Reason reason(Exception cause) {
        return HttpFailures.translate(new CompletionException(new IOException(cause))).reason();
    }
}
