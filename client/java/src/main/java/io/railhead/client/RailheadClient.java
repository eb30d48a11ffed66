package io.railhead.client;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Consumer;

/**
 * An S3 client for a node: reads and writes whole objects, over HTTP with any store or one-sided
 * with a gateway on this host. Blocking; any thread; its owner closes it.
 *
 * <p> A method returns only when every byte is where it should be, of one version of the object,
 * with the length that the store named; anything else is an {@link IOException},
 * {@link S3Exception} where the store said why.
 */
public final class RailheadClient implements AutoCloseable {
    private static final int READ_PART_BYTES = 8 << 20;
    private static final long WRITE_PART_BYTES = 16L << 20;
    private static final int LIST_PAGE = 1000;

    private final S3Http http;
    private final PartTransport transport;
    private final Streams streams;
    private final ObjectHeads heads;
    private final ObjectReader reader;
    private final ObjectWriter writer;
    private final Declines declines = new Declines();

    RailheadClient(ClientConfig config, Peers peers) {
        http = new S3Http(config);
        streams = new Streams(config.streams());
        heads = new ObjectHeads(http);
        HttpParts overHttp = new HttpParts(http, READ_PART_BYTES);
        transport = switch (config.via()) {
            case HTTP -> overHttp;
            case LOOPBACK -> new LoopbackParts(http, overHttp,
                    new LoopbackSessions(http, peers, config.streams(), config.timeout()),
                    declines);
        };
        reader = new ObjectReader(transport, heads, streams, READ_PART_BYTES);
        writer = new ObjectWriter(http, transport, streams, WRITE_PART_BYTES);
    }

    /** No byte is sent before the first request. */
    public static RailheadClient connect(ClientConfig config) {
        return new RailheadClient(config, LoopbackPeers.INSTANCE);
    }

    /** Reads into a file that appears, or replaces an older one, only when complete. */
    public ObjectInfo get(ObjectName name, Path file, Progress progress) throws IOException {
        return new FileDownload(reader, heads).get(name, file, progress);
    }

    /** Reads part by part into {@code sink}; see there for order and threads. */
    public ObjectInfo get(ObjectName name, PartSink sink, Progress progress) throws IOException {
        return reader.read(name, sink, progress);
    }

    public ObjectInfo head(ObjectName name) throws IOException {
        return heads.head(name).info();
    }

    public ObjectInfo put(Path file, ObjectName name, Progress progress) throws IOException {
        return writer.put(file, name, progress);
    }

    /** Creates a bucket. */
    public void createBucket(String bucket) throws IOException {
        new Listings(http).create(bucket);
    }

    public void listBuckets(Consumer<ListedBucket> found) throws IOException {
        new Listings(http).buckets(found);
    }

    /** All objects whose keys start with {@code prefix}, in the store's order. */
    public void list(String bucket, String prefix, Consumer<ListedObject> found)
            throws IOException {
        new Listings(http).objects(bucket, prefix, LIST_PAGE, found);
    }

    /** How often one-sided delivery was asked for and not used, by the gateway's reason. */
    public Map<String, Long> declines() {
        return declines.snapshot();
    }

    @Override
    public void close() {
        streams.close();
        transport.close();
        http.close();
    }
}
