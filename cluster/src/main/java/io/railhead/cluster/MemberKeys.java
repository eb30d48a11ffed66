package io.railhead.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.security.GeneralSecurityException;
import javax.net.ServerSocketFactory;
import javax.net.SocketFactory;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * The certificate by which this member proves itself, and the authority that every member's must be
 * of. Both may be replaced: later connections use the new ones, and open ones stay. Any thread.
 */
public final class MemberKeys {
    private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};

    private volatile SSLContext context;

    /** @throws IllegalArgumentException with one line if they cannot be used */
    public MemberKeys(KeyManager[] keys, TrustManager[] authorities) {
        this.context = context(keys, authorities);
    }

    /**
     * @throws IllegalArgumentException with one line if they cannot be used; then nothing changes
     */
    public void replace(KeyManager[] keys, TrustManager[] authorities) {
        context = context(keys, authorities);
    }

    private static SSLContext context(KeyManager[] keys, TrustManager[] authorities) {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys, authorities, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("cluster.tls: cannot be used: " + e.getMessage(), e);
        }
    }

    private static SSLSocket prepared(Socket socket) {
        SSLSocket secure = (SSLSocket) socket;
        secure.setEnabledProtocols(PROTOCOLS);
        return secure;
    }

    /** Returns a factory of connections to other members. */
    SocketFactory outgoing() {
        return new SocketFactory() {
            private SocketFactory now() {
                return context.getSocketFactory();
            }

            @Override
            public Socket createSocket() throws IOException {
                return prepared(now().createSocket());
            }

            @Override
            public Socket createSocket(String host, int port) throws IOException {
                return prepared(now().createSocket(host, port));
            }

            @Override
            public Socket createSocket(InetAddress host, int port) throws IOException {
                return prepared(now().createSocket(host, port));
            }

            @Override
            public Socket createSocket(String host, int port, InetAddress local, int localPort)
                    throws IOException {
                return prepared(now().createSocket(host, port, local, localPort));
            }

            @Override
            public Socket createSocket(InetAddress host, int port, InetAddress local,
                    int localPort) throws IOException {
                return prepared(now().createSocket(host, port, local, localPort));
            }
        };
    }

    /** Returns a factory of ports that only members can use. */
    ServerSocketFactory incoming() {
        return new ServerSocketFactory() {
            @Override
            public ServerSocket createServerSocket() throws IOException {
                return new MembersOnly();
            }

            @Override
            public ServerSocket createServerSocket(int port) throws IOException {
                return new MembersOnly(port, 50, null);
            }

            @Override
            public ServerSocket createServerSocket(int port, int backlog) throws IOException {
                return new MembersOnly(port, backlog, null);
            }

            @Override
            public ServerSocket createServerSocket(int port, int backlog, InetAddress host)
                    throws IOException {
                return new MembersOnly(port, backlog, host);
            }
        };
    }

    /** A port whose every connection takes the keys in force, and needs a member's certificate. */
    private final class MembersOnly extends ServerSocket {

        MembersOnly() throws IOException {
            super();
        }

        MembersOnly(int port, int backlog, @Nullable InetAddress host) throws IOException {
            super(port, backlog, host);
        }

        @Override
        public Socket accept() throws IOException {
            Socket plain = super.accept();
            SSLSocket secure = prepared(context.getSocketFactory()
                    .createSocket(plain, plain.getInetAddress().getHostAddress(), plain.getPort(),
                            true));
            secure.setUseClientMode(false);
            secure.setNeedClientAuth(true);
            return secure;
        }
    }
}
