package io.railhead.client;

import io.railhead.client.kv.KvNamespace;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * An S3 client for a node: reads and writes objects over HTTP with any store, or one-sided with a
 * gateway. Any thread; its owner closes it. Methods that return no stage block.
 *
 * <p> A method returns, and a stage completes, only after all bytes have arrived. They are of one
 * version of the object and have the length that the store declared. Every other end is an
 * {@link IOException}, or an {@link S3Exception} with the store's reason. Sessions are opened on
 * demand, and again after they ended; reads are then repeated automatically.
 */
public final class RailheadClient implements AutoCloseable {
    private static final int READ_PART_BYTES = 8 << 20;
    private static final int LIST_PAGE = 1000;

    private final S3Http http;
    private final Executor blocking = task -> Thread.ofVirtual()
            .name("railhead-client")
            .start(task);
    private final PathCounters pathCounters;
    private final PartTransport transport;
    private final Streams streams;
    private final ObjectReader reader;
    private final FileDownload download;
    private final ObjectWriter writer;

    RailheadClient(ClientConfig config, FabricConnector fabricConnector) {
        this(config, fabricConnector, UploadSizes.DEFAULT);
    }

    RailheadClient(ClientConfig config, FabricConnector fabricConnector, UploadSizes sizes) {
        http = new S3Http(config);
        streams = new Streams(config.streams());
        pathCounters = new PathCounters(config.via(), config.fallback());
        transport = transport(config, fabricConnector, sizes.singlePutBytes());
        reader = new ObjectReader(transport, streams, READ_PART_BYTES);
        download = new FileDownload(reader,
                new ObjectReader(transport, new Streams(1), READ_PART_BYTES), transport);
        writer = new ObjectWriter(http, transport, streams, sizes.partBytes());
    }

    private PartTransport transport(ClientConfig config, FabricConnector fabricConnector,
            long singlePutBytes) {
        HttpParts overHttp = new HttpParts(http, READ_PART_BYTES, singlePutBytes, blocking,
                config.streams(), pathCounters);
        if (config.via() == Via.HTTP) {
            return overHttp;
        }
        Gateways gateways = new Gateways(config, http, fabricConnector);
        // One more than there are threads: the next part is under way while one is being taken.
        Windows windows = new Windows(gateways::allocate, READ_PART_BYTES, config.streams() + 1);
        return config.via() == Via.TOKEN
                ? new TokenParts(http, overHttp, gateways, windows, pathCounters)
                : new ChannelParts(overHttp, gateways,
                        ChannelRequests.atOwners(gateways, blocking, config.timeout()),
                        ChannelRequests.atHome(gateways, blocking, config.timeout()), windows,
                        pathCounters);
    }

    /** Returns a client; no byte is sent before the first request. */
    public static RailheadClient connect(ClientConfig config) {
        return new RailheadClient(config,
                config.via() == Via.VERBS ? VerbsConnector.INSTANCE : LoopbackConnector.INSTANCE);
    }

    /**
     * Reads into a file that appears, or replaces an older one, only when complete. Symbolic links
     * are followed. A device, a FIFO or an open descriptor is written in order instead.
     */
    public ObjectInfo get(ObjectName name, Path file, Progress progress) throws IOException {
        return download.get(name, file, progress);
    }

    /**
     * Reads as {@link #get(ObjectName, Path, Progress)} does, in as many calls as needed. Bytes
     * received before a failure, or the process's end, stay beside the file under names that begin
     * with a dot. They are not read again while the object's version is the same. A part of 8 MiB
     * counts once it is whole.
     *
     * @throws IOException also if another call is working on that file
     */
    public ObjectInfo resume(ObjectName name, Path file, Progress progress) throws IOException {
        return download.resume(name, file, progress);
    }

    /** Reads part by part into {@code sink}; see {@link PartSink} for order and threads. */
    public ObjectInfo get(ObjectName name, PartSink sink, Progress progress) throws IOException {
        return reader.read(name, sink, progress);
    }

    /**
     * Returns zeroed memory for deliveries: over loopback a gateway on this host maps it, with RDMA
     * the adapter pins it.
     *
     * @throws RuntimeException if there is no such memory
     */
    public RegisteredBuffer register(long bytes) {
        return transport.register(bytes);
    }

    /**
     * Reads a range into registered memory, without a copy. The range of the buffer is the
     * gateway's until the stage has completed in any way, but for a {@link MemoryHeldException}:
     * then it stays the gateway's. Dependents of the stage may run on a thread that others wait
     * for: they must not block.
     */
    public CompletionStage<Part> get(Read read) {
        return transport.read(List.of(read)).getFirst();
    }

    /** Reads all ranges by as few messages as possible; see {@link #get(Read)}. */
    public List<? extends CompletionStage<Part>> getAll(List<Read> reads) {
        return transport.read(reads);
    }

    /**
     * Returns the blocks of a cache-only bucket whose keys begin with a prefix.
     *
     * @param url {@code s3://bucket/prefix}; the prefix may be empty
     * @throws IllegalStateException unless the client is {@link Via#LOOPBACK} or {@link Via#VERBS}
     */
    public KvNamespace kv(String url) {
        return KvNamespace.of(transport.blocks(), url);
    }

    public ObjectInfo head(ObjectName name) throws IOException {
        return transport.head(name).info();
    }

    /**
     * Stores a file. A source without a size, such as a FIFO or a file of {@code /proc}, is read to
     * its end, as a stream is.
     *
     * @throws OutcomeUnknownException if no response came: the object may be stored
     */
    public ObjectInfo put(Path file, ObjectName name, Progress progress) throws IOException {
        return writer.put(file, name, progress);
    }

    /**
     * Stores a stream up to its end. More than a part of 16 MiB becomes a multipart upload, whose
     * parts are held in the heap until they are stored. Several threads read the stream, one at a
     * time; it is not closed.
     *
     * @throws OutcomeUnknownException if no response came: the object may be stored
     */
    public ObjectInfo put(InputStream content, ObjectName name, Progress progress)
            throws IOException {
        return writer.put(content, name, progress);
    }

    /**
     * Stores a file in as many calls as needed. After a failure, or the process's end, the store
     * keeps the multipart upload. A journal beside the file, with a name that begins with a dot,
     * notes the upload and the file's state. Each endpoint and object has its own. The next call
     * sends the parts that the store lacks. A stored part counts if its size and its checksum, or
     * its ETag as an MD5, match the file. A file that was changed is stored anew and its upload
     * aborted.
     *
     * @throws UnfinishedUploadException if the upload can be continued
     * @throws IOException also if the source has no size, or another call is working on that file
     */
    public ObjectInfo resumePut(Path file, ObjectName name, Progress progress)
            throws IOException {
        return writer.resume(file, name, progress);
    }

    /**
     * Makes the gateway prefetch an object, with the caller's rights and within its limits. Returns
     * once the object is cached, or is known not to be.
     */
    public Prefetched prefetch(ObjectName name) throws IOException {
        return new Prefetching(http).prefetch(name);
    }

    /** Creates a bucket. */
    public void createBucket(String bucket) throws IOException {
        new Listings(http).create(bucket);
    }

    public void listBuckets(Consumer<ListedBucket> found) throws IOException {
        new Listings(http).buckets(found);
    }

    /** Lists all objects whose keys start with {@code prefix}, in the store's order. */
    public void list(String bucket, String prefix, Consumer<ListedObject> found)
            throws IOException {
        new Listings(http).objects(bucket, prefix, LIST_PAGE, found);
    }

    /** Returns how many parts, read or written, were requested one-sided and are done. */
    public long parts() {
        return pathCounters.parts();
    }

    /** Returns how many of {@link #parts} went over HTTP instead, by the reason. */
    public Map<String, Long> declines() {
        return pathCounters.declines();
    }

    /**
     * Returns the read parts by the gateway's cache result: {@code hit}, {@code miss},
     * {@code revalidated}, {@code stale}, {@code bypass} or {@code none}. Responses of a store
     * without a gateway do not count.
     */
    public Map<String, Long> cacheResults() {
        return pathCounters.cacheResults();
    }

    @Override
    public void close() {
        streams.close();
        transport.close();
        http.close();
    }
}
