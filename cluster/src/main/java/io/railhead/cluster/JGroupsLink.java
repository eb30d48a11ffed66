package io.railhead.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jgroups.Address;
import org.jgroups.BytesMessage;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.Receiver;
import org.jgroups.View;
import org.jgroups.protocols.Discovery;
import org.jgroups.protocols.FD_ALL3;
import org.jgroups.protocols.FRAG4;
import org.jgroups.protocols.MERGE3;
import org.jgroups.protocols.TCP;
import org.jgroups.protocols.TCPPING;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.protocols.dns.DNS_PING;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.STABLE;
import org.jgroups.stack.Protocol;
import org.jgroups.util.DefaultSocketFactory;
import org.jgroups.util.NameCache;
import org.jgroups.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Membership and messages by JGroups over TCP: the one class that knows its protocols. It listens
 * on one port. A closed connection is the first sign of a member that has gone; JGroups' own port
 * for that (FD_SOCK2) is left out, since it knows no certificates.
 */
public final class JGroupsLink implements Link {
    private static final long HEARTBEAT_MILLIS = 500;
    private static final long SILENCE_MILLIS = 3_000;
    private static final long VERIFY_MILLIS = 500;
    private static final long MERGE_MIN_MILLIS = 1_000;
    private static final long MERGE_MAX_MILLIS = 3_000;
    private static final long JOIN_MILLIS = 2_000;
    private static final int CONNECT_MILLIS = 1_000;
    private static final int FRAGMENT_BYTES = 60_000;

    private final ClusterConfig config;
    private final JChannel channel;
    private final Map<Address, Member> members = new ConcurrentHashMap<>();

    /**
     * A link that is not open yet.
     *
     * @param keys null for connections that are neither encrypted nor proved: one host only
     * @throws IllegalStateException with one line if the address cannot be used
     */
    public JGroupsLink(ClusterConfig config, @Nullable MemberKeys keys) {
        this.config = config;
        try {
            this.channel = new JChannel(protocols(config, keys)).name(config.member());
        } catch (Exception e) {
            throw refusal(config, e);
        }
    }

    private static IllegalStateException refusal(ClusterConfig config, Exception cause) {
        return new IllegalStateException("cluster.listen: cannot be used: "
                + config.listen().host() + ":" + config.listen().port() + ": "
                + root(cause), cause);
    }

    private static String root(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root.getMessage() == null ? root.toString() : root.getMessage();
    }

    private static List<Protocol> protocols(ClusterConfig config, @Nullable MemberKeys keys)
            throws UnknownHostException {
        InetAddress here = InetAddress.getByName(config.listen().host());
        TCP tcp = new TCP();
        tcp.setBindAddress(here).setBindPort(config.listen().port()).setPortRange(0);
        tcp.setSockConnTimeout(CONNECT_MILLIS).enableSuspectEvents(true);
        tcp.setLogDiscardMessages(false);
        tcp.disableDiagnostics();
        if (keys != null) {
            tcp.setSocketFactory(new DefaultSocketFactory(keys.outgoing(), keys.incoming()));
        }
        FD_ALL3 heartbeats = new FD_ALL3();
        heartbeats.setTimeout(SILENCE_MILLIS).setInterval(HEARTBEAT_MILLIS);
        return List.of(tcp, discovery(config),
                new MERGE3().setMinInterval(MERGE_MIN_MILLIS).setMaxInterval(MERGE_MAX_MILLIS),
                heartbeats, new VERIFY_SUSPECT2().setTimeout(VERIFY_MILLIS),
                new NAKACK2().useMcastXmit(false), new UNICAST3(), new STABLE(),
                new GMS().printLocalAddress(false).setJoinTimeout(JOIN_MILLIS),
                new FRAG4().setFragSize(FRAGMENT_BYTES));
    }

    private static Discovery discovery(ClusterConfig config) {
        return switch (config.discovery()) {
            case ClusterConfig.Discovery.Fixed(List<ClusterConfig.Address> listed) -> {
                TCPPING listing = new TCPPING();
                listing.setPortRange(0);
                listing.initialHosts(listed.stream()
                        .map(each -> new InetSocketAddress(each.host(), each.port()))
                        .toList());
                yield listing;
            }
            case ClusterConfig.Discovery.Dns(String name) -> new DNS_PING().setDNSQuery(name);
        };
    }

    @Override
    public void open(Ear ear) {
        requireFree(config.listen().port());
        channel.setDiscardOwnMessages(true);
        channel.setReceiver(new Receiver() {
            @Override
            public void viewAccepted(View view) {
                ear.membersAre(membership(view));
            }

            @Override
            public void receive(Message message) {
                Address from = message.getSrc();
                if (!from.equals(channel.getAddress())) {
                    byte[] frame = new byte[message.getLength()];
                    System.arraycopy(message.getArray(), message.getOffset(), frame, 0,
                            frame.length);
                    ear.heard(member(from), frame);
                }
            }
        });
        try {
            channel.connect(config.cluster());
        } catch (Exception e) {
            channel.close();
            throw refusal(config, e);
        }
    }

    /** JGroups tells of a port in use by a long stack. */
    private void requireFree(int port) {
        try (ServerSocket trial = new ServerSocket()) {
            trial.setReuseAddress(true);
            trial.bind(new InetSocketAddress(config.listen().host(), port));
        } catch (IOException e) {
            throw new IllegalStateException("cluster.listen: cannot listen on "
                    + config.listen().host() + ":" + port + ": " + e.getMessage(), e);
        }
    }

    private Membership membership(View view) {
        List<Address> others = view.getMembers()
                .stream()
                .filter(each -> !each.equals(channel.getAddress()))
                .toList();
        members.keySet().retainAll(others);
        return new Membership(id(view.getViewId().getCreator()) + "/" + view.getViewId().getId(),
                others.stream().map(this::member).toList());
    }

    private Member member(Address address) {
        return members.computeIfAbsent(address, each -> {
            String name = NameCache.get(each);
            return new Member(id(each), name == null ? id(each) : name);
        });
    }

    private static String id(Address address) {
        return address instanceof UUID uuid ? uuid.toStringLong() : address.toString();
    }

    @Override
    public void cast(byte[] frame) {
        send(new BytesMessage(null, frame));
    }

    @Override
    public void send(Member to, byte[] frame) {
        members.forEach((address, member) -> {
            if (member.equals(to)) {
                send(new BytesMessage(address, frame).setFlag(Message.Flag.OOB));
            }
        });
    }

    private void send(Message message) {
        try {
            channel.send(message);
        } catch (Exception e) {
            throw new IllegalStateException("not sent: " + root(e), e);
        }
    }

    @Override
    public void close() {
        channel.close();
    }
}
