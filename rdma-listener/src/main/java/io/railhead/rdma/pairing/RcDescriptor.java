package io.railhead.rdma.pairing;

import io.railhead.os.adapter.GidBytes;
import io.railhead.os.adapter.QueuePairEnd;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;

/**
 * hipObject's descriptor of a queue pair and optionally of memory: 44 bytes, little-endian, as 88
 * hex digits:
 *
 * <pre>
 *  0   1     5       21     25       33      41    42   44
 *  |1  |qpn  |GID    |rkey  |address |length |port |lid |
 * </pre>
 *
 * The first byte is the transport: 1 is the reliable connection; 0, dynamically connected, is not
 * accepted here. The GID stands in network order.
 *
 * @param queuePair its number, 24 bits
 * @param gid as {@link GidBytes} reads it
 * @param port of the device that the queue pair is on
 * @param lid 0 on RoCE
 */
public record RcDescriptor(int queuePair, InetAddress gid, int key, long address, long length,
        int port, int lid) {
    /** The number of hex digits. */
    public static final int TEXT_LENGTH = 88;
    private static final int BYTES = TEXT_LENGTH / 2;
    private static final byte RELIABLE_CONNECTION = 1;
    private static final int MAX_PORT = 0xff;

    public RcDescriptor {
        // Constructed for its checks.
        var _ = new QueuePairEnd(queuePair, gid, lid, 0);
        if (port < 0 || port > MAX_PORT) {
            throw new IllegalArgumentException("port must be 0 to 255: " + port);
        }
    }

    /** Returns the descriptor of a queue pair without memory. */
    public static RcDescriptor of(QueuePairEnd end, int port) {
        return new RcDescriptor(end.number(), end.gid(), 0, 0, 0, port, end.lid());
    }

    /** Parses a descriptor. Throws {@link IllegalArgumentException} that names the fault. */
    public static RcDescriptor parse(String text) {
        if (text.length() != TEXT_LENGTH) {
            throw new IllegalArgumentException(
                    "a descriptor has " + TEXT_LENGTH + " hex digits: " + text.length());
        }
        ByteBuffer bytes = ByteBuffer.wrap(HexFormat.of().parseHex(text))
                .order(ByteOrder.LITTLE_ENDIAN);
        byte transport = bytes.get();
        if (transport != RELIABLE_CONNECTION) {
            throw new IllegalArgumentException(
                    "transport must be 1, the reliable connection: " + (transport & 0xff));
        }
        int queuePair = bytes.getInt();
        byte[] gid = new byte[GidBytes.LENGTH];
        bytes.get(gid);
        return new RcDescriptor(queuePair, GidBytes.read(gid), bytes.getInt(), bytes.getLong(),
                bytes.getLong(), bytes.get() & MAX_PORT, Short.toUnsignedInt(bytes.getShort()));
    }

    /** Returns the digits in lower case. */
    public String format() {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.put(RELIABLE_CONNECTION)
                .putInt(queuePair)
                .put(GidBytes.of(gid))
                .putInt(key)
                .putLong(address)
                .putLong(length)
                .put((byte) port)
                .putShort((short) lid);
        return HexFormat.of().formatHex(bytes.array());
    }

    /** Returns the queue pair alone. */
    public QueuePairEnd end(int packetSequence) {
        return new QueuePairEnd(queuePair, gid, lid, packetSequence);
    }
}
