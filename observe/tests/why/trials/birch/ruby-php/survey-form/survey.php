<?php
// Saves the fields of a survey's form; the answers so far are in the session.

function store(array $answer): array
{
    $url = 'http://127.0.0.1:' . getenv('STORE') . '/answers?' . http_build_query($answer);
    $context = stream_context_create(['http' => ['timeout' => 5, 'header' => "Connection: close\r\n"]]);
    $s = stream_socket_client('tcp://127.0.0.1:' . getenv('STORE'), $errno, $error, 5);
    fwrite($s, "GET " . parse_url($url, PHP_URL_PATH) . " HTTP/1.1\r\nHost: store\r\n\r\n");
    $status = fgets($s);
    $length = 0;
    while (($line = rtrim(fgets($s))) !== '') {
        if (stripos($line, 'content-length:') === 0) {
            $length = (int) substr($line, 15);
        }
    }
    $body = stream_get_contents($s, $length);
    fclose($s);
    return json_decode($body, true) + ['status' => trim($status)];
}

session_name('PHPSESSID');
session_start();
$field = (int) ($_GET['field'] ?? 0);
$value = (int) ($_GET['value'] ?? 0);
$_SESSION['answers'][$field] = $value;
$_SESSION['at'] = microtime(true);
$count = count($_SESSION['answers']);
if (getenv('EARLY') === '1') {
    session_write_close();
}
$saved = store(['field' => $field, 'value' => $value, 'who' => session_id()]);
header('Content-Type: application/json');
echo json_encode(['saved' => $saved['saved'], 'answers' => $count, 'mean' => array_sum($_SESSION['answers']) / $count]);
