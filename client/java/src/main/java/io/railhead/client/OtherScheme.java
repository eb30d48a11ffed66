package io.railhead.client;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/** The mistake to ask a TLS port in cleartext, or the other way round, told in plain words. */
final class OtherScheme {
    private static final int LIMIT_MILLIS = 2000;
    private static final int HTTP_PORT = 80;
    /** The JDK's words for a peer that answered in something else; it has no exception types. */
    private static final String NO_TLS = "Unsupported or unrecognized SSL message";
    private static final String NO_ANSWER = "Unexpected end of file from server";
    private static final String NO_HTTP = "Invalid Http response";

    private OtherScheme() {}

    /** Returns what is wrong; null if it is not the scheme. Blocks, and asks the port anew. */
    static @Nullable String findFault(URI endpoint, IOException failure) {
        String message = String.valueOf(failure.getMessage());
        if ("https".equals(endpoint.getScheme())) {
            return message.contains(NO_TLS)
                    ? endpoint + " speaks no TLS: use http" + rest(endpoint)
                    : null;
        }
        boolean isOdd = failure instanceof SocketException || message.contains(NO_ANSWER)
                || message.contains(NO_HTTP);
        return isOdd && speaksTls(endpoint)
                ? endpoint + " speaks TLS: use https" + rest(endpoint)
                : null;
    }

    private static String rest(URI endpoint) {
        return endpoint.toString().substring(endpoint.getScheme().length());
    }

    private static boolean speaksTls(URI endpoint) {
        int port = endpoint.getPort() < 0 ? HTTP_PORT : endpoint.getPort();
        try (Socket plain = new Socket()) {
            plain.connect(new InetSocketAddress(endpoint.getHost(), port), LIMIT_MILLIS);
            plain.setSoTimeout(LIMIT_MILLIS);
            try (SSLSocket socket = (SSLSocket) ((SSLSocketFactory) SSLSocketFactory.getDefault())
                    .createSocket(plain, endpoint.getHost(), port, true)) {
                socket.startHandshake();
                return true;
            }
        } catch (SSLException e) {
            // A certificate that nobody here trusts, or the wish for one of ours, is TLS too.
            return !String.valueOf(e.getMessage()).contains(NO_TLS);
        } catch (IOException e) {
            return false;
        }
    }
}
