<?php
// One page of the portal: greeting, the visitor's history, the weather at the boathouse.
declare(strict_types=1);

require __DIR__ . '/weather.php';

session_start();
$_SESSION['visits'] = ($_SESSION['visits'] ?? 0) + 1;
$_SESSION['pages'][] = (string) ($_GET['page'] ?? 'start');
$_SESSION['pages'] = array_slice($_SESSION['pages'], -20);
$visits = $_SESSION['visits'];
$pages = $_SESSION['pages'];
if (getenv('SESSIONS') === 'brief') {
    session_write_close();
}

$weather = weather((int) getenv('WEATHER'));

header('Content-Type: text/html; charset=utf-8');
ob_start();
?>
<!doctype html>
<title>Rowing club</title>
<p>Your visit number <?= $visits ?>.</p>
<ul>
<?php foreach ($pages as $page): ?>
  <li><?= htmlspecialchars($page) ?></li>
<?php endforeach ?>
</ul>
<p>At the boathouse: <?= htmlspecialchars($weather['status'] ?? 'unknown') ?></p>
<?php
header('Content-Length: ' . ob_get_length());
ob_end_flush();
