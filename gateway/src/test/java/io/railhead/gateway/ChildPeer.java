package io.railhead.gateway;

import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A process that reads into its own memory, once told to, again and again until it is killed. */
public final class ChildPeer {
    private static final int BUFFER = 32 << 20;

    private ChildPeer() {}

    /**
     * Several at once, so that some are under way whenever the end comes; the last one's status.
     */
    private static int readMany(TestPeer peer) {
        List<CompletableFuture<Answer>> answers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            answers.add(peer.send(Request.get(0, "held", "object", peer.key(), 0, BUFFER)));
        }
        return answers.stream().mapToInt(answer -> answer.join().status()).max().orElseThrow();
    }

    public static void main(String[] arguments) throws IOException {
        TestClient client = new TestClient(URI.create(arguments[0]), "AK", "SK");
        TestPeer peer = new TestPeer(client, "SK", BUFFER);
        int _ = System.in.read();
        boolean overChannel = arguments[1].equals("channel");
        if (overChannel) {
            // Where that does not come it is under way at the end, whenever that is.
            CompletableFuture<Answer> _ = peer
                    .send(Request.get(0, "held", "never", peer.key(), 0, BUFFER));
        }
        for (int round = 0; true; round++) {
            int status = overChannel
                    ? readMany(peer)
                    : client.get("/held/object", peer.headers(0, BUFFER)).statusCode();
            if (round == 3) {
                System.out.println("reading " + status);
            }
        }
    }
}
