<?php
declare(strict_types=1);

/** Asks the weather service. */
function weather(int $port): array
{
    $s = stream_socket_client("tcp://127.0.0.1:$port", $code, $text, 5);
    if ($s === false) {
        return ['status' => "weather service: $text"];
    }
    fwrite($s, "GET /boathouse HTTP/1.1\r\nHost: weather\r\n\r\n");
    $length = 0;
    while (($line = fgets($s)) !== false && trim($line) !== '') {
        if (stripos($line, 'content-length:') === 0) {
            $length = (int) trim(substr($line, 15));
        }
    }
    $body = stream_get_contents($s, $length);
    fclose($s);
    return json_decode((string) $body, true) ?? [];
}
