package io.railhead.client;

import io.railhead.client.channel.ClientChannel;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** A session on a channel of any fabric. */
final class ChannelPeer implements FabricConnector.Peer {
    private final ClientChannel channel;
    private final int sessionNumber;
    private final Registrations fabric;

    /** The fabric's own part of a session. */
    interface Registrations {
        int register(FabricConnector.Memory memory) throws IOException;

        void deregister(int key) throws IOException;

        boolean hasLetGo();

        void close();
    }

    ChannelPeer(ClientChannel channel, int sessionNumber, Registrations ownedFabric) {
        this.channel = channel;
        this.sessionNumber = sessionNumber;
        this.fabric = ownedFabric;
    }

    @Override
    public int sessionNumber() {
        return sessionNumber;
    }

    @Override
    public int register(FabricConnector.Memory memory) throws IOException {
        return fabric.register(memory);
    }

    @Override
    public void deregister(int key) throws IOException {
        fabric.deregister(key);
    }

    @Override
    public List<CompletionStage<Answer>> send(List<Request> requests) {
        List<Request> numbered = new ArrayList<>(requests.size());
        for (Request request : requests) {
            numbered.add(request.withId(channel.freshId()));
        }
        return channel.send(numbered);
    }

    @Override
    public Answer call(Request request) throws IOException {
        return channel.call(request.withId(channel.freshId()));
    }

    @Override
    public boolean isOpen() {
        return channel.isOpen() && channel.endReason() == null;
    }

    @Override
    public boolean hasLetGo() {
        return fabric.hasLetGo();
    }

    @Override
    public void close() {
        fabric.close();
    }
}
