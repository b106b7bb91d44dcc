<?php

class Depot
{
    private int $port;

    public function __construct(int $port)
    {
        $this->port = $port;
    }

    public function stock(string $article): int
    {
        $link = stream_socket_client("tcp://127.0.0.1:{$this->port}", $code, $text, 10);
        if (!$link) {
            throw new RuntimeException("depot: $text");
        }
        fwrite($link, "GET /stock/$article HTTP/1.1\r\nHost: depot\r\n\r\n");
        $length = 0;
        while (($line = fgets($link)) !== false && trim($line) !== '') {
            if (stripos($line, 'content-length:') === 0) {
                $length = (int) substr($line, 15);
            }
        }
        $data = json_decode(stream_get_contents($link, $length), true);
        fclose($link);
        return $data['count'];
    }
}
