package io.railhead.backend.http;

import static java.util.Objects.requireNonNull;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.HttpRequestEncoder;
import io.netty.handler.proxy.HttpProxyHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.resolver.NoopAddressResolverGroup;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import io.railhead.backend.BackendConfig;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * Opens connections: name, TCP, perhaps a proxy's tunnel and TLS. Names are resolved on virtual
 * threads, since the JDK's resolver blocks; the addresses of a name are tried one after another.
 */
final class Connector implements EndpointPool.Opener {
    private static final Duration TLS_TIMEOUT = Duration.ofSeconds(5);

    private final EventLoopGroup loops;
    private final int timeoutMillis;
    private final BackendConfig.@Nullable Proxy proxy;
    private final @Nullable SslContext tls;

    /** @param trust the authorities to trust; null for those of the JDK */
    Connector(EventLoopGroup loops, BackendConfig config, TrustManager @Nullable [] trust) {
        this.loops = loops;
        this.timeoutMillis = Math.clamp(config.connectTimeout().toMillis(), 1,
                Integer.MAX_VALUE);
        this.proxy = config.proxy();
        this.tls = config.endpoints().stream().anyMatch(Connector::isEncrypted)
                ? tls(trust)
                : null;
    }

    private static boolean isEncrypted(URI endpoint) {
        return "https".equalsIgnoreCase(endpoint.getScheme());
    }

    private static SslContext tls(TrustManager @Nullable [] trust) {
        try {
            SslContextBuilder builder = SslContextBuilder.forClient()
                    .sslProvider(SslProvider.JDK)
                    .endpointIdentificationAlgorithm("HTTPS");
            return trust == null
                    ? builder.trustManager((TrustManagerFactory) null).build()
                    : builder.trustManager(trust[0]).build();
        } catch (SSLException e) {
            throw new IllegalStateException("TLS is part of every Java", e);
        }
    }

    @Override
    public void open(URI endpoint, EndpointPool pool, StoreExchange exchange) {
        BackendConfig.Proxy by = proxy;
        String host = by == null ? host(endpoint) : by.host();
        int port = by == null ? port(endpoint) : by.port();
        var _ = addresses(host).whenComplete((addresses, failure) -> {
            if (failure != null) {
                pool.refused(exchange, failure);
            } else {
                new Attempt(endpoint, pool, exchange, addresses, port).connect(0);
            }
        });
    }

    private static String host(URI endpoint) {
        String host = endpoint.getHost();
        return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    }

    private static int port(URI endpoint) {
        return endpoint.getPort() >= 0 ? endpoint.getPort() : isEncrypted(endpoint) ? 443 : 80;
    }

    private static CompletableFuture<List<InetAddress>> addresses(String host) {
        CompletableFuture<List<InetAddress>> found = new CompletableFuture<>();
        Runnable resolving = () -> {
            try {
                found.complete(List.of(InetAddress.getAllByName(host)));
            } catch (UnknownHostException | RuntimeException | Error e) {
                found.completeExceptionally(e);
            }
        };
        if (NetUtil.isValidIpV4Address(host) || NetUtil.isValidIpV6Address(host)) {
            resolving.run();
        } else {
            Thread.ofVirtual().name("backend-resolver").start(resolving);
        }
        return found;
    }

    /** One connection on its way, over the addresses of a name. */
    private final class Attempt {
        private final URI endpoint;
        private final EndpointPool pool;
        private final StoreExchange exchange;
        private final List<InetAddress> addresses;
        private final int port;
        private final EventLoop loop = loops.next();

        Attempt(URI endpoint, EndpointPool pool, StoreExchange exchange,
                List<InetAddress> addresses, int port) {
            this.endpoint = endpoint;
            this.pool = pool;
            this.exchange = exchange;
            this.addresses = addresses;
            this.port = port;
        }

        void connect(int number) {
            CompletableFuture<StoreConnection> connected = new CompletableFuture<>();
            var _ = connected.whenComplete((connection, failure) -> {
                if (failure == null) {
                    pool.opened(connection, exchange);
                } else if (number + 1 < addresses.size()) {
                    connect(number + 1);
                } else {
                    pool.refused(exchange, failure);
                }
            });
            try {
                connect(new InetSocketAddress(addresses.get(number), port), connected);
            } catch (RuntimeException | Error e) {
                connected.completeExceptionally(e); // perhaps the client is closing
            }
        }

        private void connect(InetSocketAddress address,
                CompletableFuture<StoreConnection> connected) {
            Setup setup = new Setup(address);
            Bootstrap bootstrap = new Bootstrap().group(loop)
                    .channel(channelType())
                    .resolver(NoopAddressResolverGroup.INSTANCE)
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, timeoutMillis)
                    .option(ChannelOption.SO_KEEPALIVE, true)
                    .option(ChannelOption.TCP_NODELAY, true)
                    .option(ChannelOption.AUTO_CLOSE, false)
                    .handler(setup);
            InetSocketAddress target = proxy == null
                    ? address
                    : InetSocketAddress.createUnresolved(host(endpoint), port(endpoint));
            var _ = bootstrap.connect(target).addListener((ChannelFutureListener) done -> {
                if (done.isSuccess()) {
                    setup.await(connected);
                } else {
                    connected.completeExceptionally(done.cause());
                }
            });
        }

        /** The handlers of one channel, from the socket to the exchange. */
        private final class Setup extends ChannelInitializer<SocketChannel> {
            private final InetSocketAddress address;
            private @Nullable HttpProxyHandler tunnel;
            private @Nullable SslHandler encryption;
            private @Nullable StoreConnection connection;

            Setup(InetSocketAddress address) {
                this.address = address;
            }

            @Override
            protected void initChannel(SocketChannel channel) {
                ResponseDecoder decoder = new ResponseDecoder();
                StoreConnection made = new StoreConnection(pool, channel, decoder);
                connection = made;
                channel.config().setRecvByteBufAllocator(new ReceiveBuffers(made));
                if (proxy != null) {
                    tunnel = proxy.user() == null
                            ? new HttpProxyHandler(address)
                            : new HttpProxyHandler(address, proxy.user(), proxy.password());
                    tunnel.setConnectTimeoutMillis(timeoutMillis);
                    channel.pipeline().addLast(tunnel);
                }
                if (tls != null && isEncrypted(endpoint)) {
                    made.encrypted();
                    encryption = tls.newHandler(channel.alloc(), host(endpoint), port(endpoint));
                    // With a tunnel the time runs from its beginning.
                    encryption.setHandshakeTimeoutMillis(
                            TLS_TIMEOUT.toMillis() + (tunnel == null ? 0 : timeoutMillis));
                    channel.pipeline().addLast(encryption);
                }
                channel.pipeline().addLast(decoder, new HttpRequestEncoder(), made);
            }

            /** Completes the connection once the tunnel stands and the handshake is done. */
            void await(CompletableFuture<StoreConnection> connected) {
                StoreConnection made = requireNonNull(connection);
                Future<Channel> ready = encryption != null
                        ? encryption.handshakeFuture()
                        : tunnel != null ? tunnel.connectFuture() : null;
                if (ready == null) {
                    connected.complete(made);
                    return;
                }
                var _ = ready.addListener(done -> {
                    if (done.isSuccess()) {
                        connected.complete(made);
                    } else {
                        made.close();
                        connected.completeExceptionally(cause(done.cause()));
                    }
                });
            }

            /** Returns the proxy's own failure: the handshake's says only that it was cut off. */
            private Throwable cause(Throwable ofHandshake) {
                HttpProxyHandler by = tunnel;
                Throwable ofTunnel = by == null ? null : by.connectFuture().cause();
                return ofTunnel == null
                        ? ofHandshake
                        : refusedBy(ofTunnel);
            }
        }
    }

    private static ConnectException refusedBy(Throwable ofTunnel) {
        // Its message has all; as a cause it would be the one that is reported.
        return new ConnectException("the proxy opened no tunnel: " + ofTunnel.getMessage());
    }

    private static Class<? extends SocketChannel> channelType() {
        return Epoll.isAvailable() ? EpollSocketChannel.class : NioSocketChannel.class;
    }
}
